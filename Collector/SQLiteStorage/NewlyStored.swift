import MartletTelemetry
import Synchronization

/// What a batch brings that was not known, for whoever is told of it once it is on the disk.
final class NewlyStored: Sendable {
    private struct State {
        var points: [InstanceMetrics] = []
        var spans = 0
    }

    private let state = Mutex(State())

    var points: [InstanceMetrics] { state.withLock { $0.points } }
    var spans: Int { state.withLock { $0.spans } }

    /// To be called first by the work of a commit, which runs again when another's in the same transaction fails.
    func begin() {
        state.withLock { $0 = State() }
    }

    func add(_ points: [RequestPoint], spans: Int = 0, of resource: TelemetryResource) {
        state.withLock {
            $0.points.append(InstanceMetrics(resource: resource, points: points))
            $0.spans += spans
        }
    }
}
