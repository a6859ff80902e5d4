import MartletPoints
import MartletTelemetry
import Synchronization

/// The points and spans that a batch adds to the store, for the callback after the commit.
final class BatchAdditions: Sendable {
    private struct State {
        var points: [InstanceMetrics] = []
        var spans = 0
        var crowdedDetails = 0
    }

    private let state = Mutex(State())

    var points: [InstanceMetrics] { state.withLock { $0.points } }
    var spans: Int { state.withLock { $0.spans } }
    /// Older details that made room.
    var crowdedDetails: Int { state.withLock { $0.crowdedDetails } }

    /// Empties it. A commit's work calls it first, because the work runs again if another's in the same transaction fails.
    func begin() {
        state.withLock { $0 = State() }
    }

    func crowdOut(_ details: Int) {
        state.withLock { $0.crowdedDetails += details }
    }

    func add(_ points: [RequestPoint], spans: Int = 0, of resource: TelemetryResource) {
        state.withLock {
            $0.points.append(InstanceMetrics(resource: resource, points: points))
            $0.spans += spans
        }
    }
}
