import MartletTelemetry
import Synchronization

/// The points that a batch brings, for whoever is told of them once they are on the disk.
final class StoredPoints: Sendable {
    private let points = Mutex<[InstanceMetrics]>([])

    var all: [InstanceMetrics] { points.withLock { $0 } }

    /// To be called first by the work of a commit, which runs again when another's in the same transaction fails.
    func begin() {
        points.withLock { $0 = [] }
    }

    func add(_ new: [RequestPoint], of resource: TelemetryResource) {
        points.withLock { $0.append(InstanceMetrics(resource: resource, points: new)) }
    }
}
