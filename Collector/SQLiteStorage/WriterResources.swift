import MartletTelemetry
import Synchronization

/// The writer's memory of senders: which row each has. May be wrong where a transaction was rolled back or a sender expired;
/// ``ResourceRows`` looks whether it is.
final class WriterResources: Sendable {
    /// Past it all are forgotten and looked for as they come: 20 MB at most, and as a rule a quarter.
    private static let maxResources = 10_000
    /// Of its texts. What says more of itself is looked for each time.
    private static let maxBytes = 1024

    private let ids = Mutex<[TelemetryResource: Int64]>([:])

    func id(of resource: TelemetryResource) -> Int64? {
        ids.withLock { $0[resource] }
    }

    func keep(_ id: Int64, of resource: TelemetryResource) {
        guard resource.textBytes <= Self.maxBytes else { return }
        ids.withLock { ids in
            if ids.count >= Self.maxResources { ids = [:] }
            ids[resource] = id
        }
    }
}

extension TelemetryResource {
    fileprivate var textBytes: Int {
        [service, version, environment, instance, host, captureMode, captureReason, agent]
            .reduce(0) { $0 + ($1?.utf8.count ?? 0) }
    }
}
