import MartletStorage
import MartletTelemetry
import Synchronization

/// The minutes of which more was stored after they were read, because a sender could not reach the collector, or its clock is behind.
/// Safe to use from any task.
package final class LateArrivals: Sendable {
    private struct State {
        /// The first minute that has not been read for good.
        var next: Minute?
        /// The environments with late minutes; empty text for senders without one.
        var late: Set<String> = []
    }

    /// Environments that are noted at most. More are not watched.
    private static let environments = 4 * FleetWatch.environments
    private let state = Mutex(State())

    package init() {}

    /// Notes what was stored. The store calls this once for each batch.
    package func note(_ metrics: [InstanceMetrics]) {
        for one in metrics {
            let ends = [one.points.lazy.map(\.end).min(), one.process.lazy.map(\.end).min(), one.ledger?.time]
            guard let end = ends.compactMap(\.self).min() else { continue }
            note(FindingTime.minute(of: FindingTime.slot(at: max(end, 1) - 1)), of: one.resource.environment ?? "")
        }
    }

    private func note(_ minute: Minute, of environment: String) {
        state.withLock { state in
            guard let next = state.next, minute < next, minute >= next - FindingConstants.keptMinutes,
                state.late.count < Self.environments
            else { return }
            state.late.insert(environment)
        }
    }

    /// Sets the first minute whose points are still awaited. From now on, earlier ones are late.
    func expect(from minute: Minute) {
        state.withLock { $0.next = max(minute, $0.next ?? minute) }
    }

    /// The environments with late minutes.
    var environments: Set<String> { state.withLock { $0.late } }

    /// Forgets the late minutes of an environment, because they are about to be read.
    func forget(_ environment: String) {
        _ = state.withLock { $0.late.remove(environment) }
    }
}
