import CMartletHooks
import Dispatch
import MartletTelemetry

/// The probes of the executors that a service's own work waits for: Swift's cooperative pool and the main queue.
///
/// A probe is sent only once libdispatch has threads in the process. Before, nothing can be late, and a probe would make the
/// first thread: libdispatch works in no child that is forked after that. A forked child has no probes for the same reason.
final class DelayProbes: Sendable {
    private let pool = DelayProbe(countingFrom: MartletLimits.probeInterval, to: nil, alwaysRuns: true)
    /// A main queue that nobody serves, because the main thread waits for something else, has no delay. So it counts once a
    /// probe has come back, and no longer if one stays away.
    private let mainQueue = DelayProbe(
        countingFrom: MartletLimits.probeInterval, to: MartletLimits.longestMainQueueDelay, alwaysRuns: false)
    private let isForkedChild = ForkedChild.isHere

    func send() {
        guard !isForkedChild, martlet_has_queue_threads() else { return }
        // The one unstructured task of the agent. Only a task gets to the pool's own queue, whose width is that of the pool: the
        // global queues have more threads. It neither waits nor fails, and the next one is sent when it has ended.
        pool.send { arrive in Task.detached { arrive() } }
        mainQueue.send { arrive in DispatchQueue.main.async(execute: arrive) }
    }

    /// Returns the delays since the last call.
    func take() -> [ProcessGauge: ProcessStatistics.Samples] {
        var delays: [ProcessGauge: ProcessStatistics.Samples] = [:]
        delays[.poolDelay] = pool.take()
        delays[.mainQueueDelay] = mainQueue.take()
        return delays
    }
}
