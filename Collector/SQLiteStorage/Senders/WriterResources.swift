import MartletTelemetry
import Synchronization

/// The writer's memory of each sender's row. It may be wrong after a transaction was rolled back or a sender expired;
/// ``ResourceRows`` checks it.
final class WriterResources: Sendable {
    /// Senders at most: past it all are forgotten and looked up as they come. They take 20 MB at most, and usually a quarter.
    private static let maxResources = 10_000
    /// Bytes of a sender's texts. A sender with longer ones is looked up each time.
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
