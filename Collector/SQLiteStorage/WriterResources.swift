import MartletTelemetry
import Synchronization

/// The writer's memory of senders: which row each has. May be wrong where a transaction was rolled back or a sender expired;
/// ``ResourceRows`` looks whether it is.
final class WriterResources: Sendable {
    /// Past it all are forgotten and looked for as they come: some 5 MB.
    static let maxResources = 10_000

    private let ids = Mutex<[TelemetryResource: Int64]>([:])

    func id(of resource: TelemetryResource) -> Int64? {
        ids.withLock { $0[resource] }
    }

    func keep(_ id: Int64, of resource: TelemetryResource) {
        ids.withLock { ids in
            if ids.count >= Self.maxResources { ids = [:] }
            ids[resource] = id
        }
    }
}
