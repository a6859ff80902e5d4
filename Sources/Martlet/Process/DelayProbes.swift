import CMartletHooks
import Dispatch
import MartletTelemetry

/// Probes of the executors that a service's work waits for: Swift's cooperative pool and the main queue.
///
/// A probe is sent only once libdispatch has threads in the process. Before that, nothing can be delayed, and a probe
/// would create the first thread. Once a process has such threads, libdispatch does not work in its forked children.
/// For the same reason, a forked child sends no probes.
final class DelayProbes: Sendable {
    private let pool = DelayProbe(countingFrom: MartletLimits.probeInterval, to: nil, alwaysRuns: true)
    /// If nothing runs the main queue, its delay is meaningless. So it counts only after a probe has returned, and
    /// stops counting when one does not.
    private let mainQueue = DelayProbe(
        countingFrom: MartletLimits.probeInterval, to: MartletLimits.longestMainQueueDelay, alwaysRuns: false)
    private let isForkedChild = ForkedChild.isHere

    func send() {
        guard !isForkedChild, martlet_has_queue_threads() else { return }
        // The agent's only unstructured task. Only a task runs on the pool's own queue, which is as wide as the pool:
        // the global queues have more threads. The task neither waits nor fails, and the next one is sent only after it
        // has ended.
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

/// Measures how long work waits before an executor begins it. Only one probe is pending at a time, so a stuck executor
/// holds one small allocation. Thread-safe.
final class DelayProbe: Sendable {
    fileprivate struct State {
        /// When the pending probe was sent; `nil` if none is pending.
        var sent: UInt64?
        var hasReturned = false
        var delays: ProcessStatistics.Samples?
    }

    /// The ages at which a pending probe counts, in nanoseconds.
    private let counted: ClosedRange<UInt64>
    /// Whether the executor is known to run even before a probe has returned.
    private let alwaysRuns: Bool
    private let process = martlet_process()
    private let state = Lock(State())

    /// - Parameters:
    ///   - least: the age from which a pending probe counts, with its age as its delay.
    ///   - most: the age up to which it counts; `nil` for no limit.
    ///   - alwaysRuns: whether a first probe that does not return counts too.
    init(countingFrom least: Duration, to most: Duration?, alwaysRuns: Bool) {
        counted = least.nanoseconds...max(least.nanoseconds, most?.nanoseconds ?? .max)
        self.alwaysRuns = alwaysRuns
    }

    /// Sends a probe, unless one is pending.
    ///
    /// - Parameter enqueue: passes the closure to the executor, which calls it.
    func send(_ enqueue: (@escaping @Sendable () -> Void) -> Void) {
        let now = Clock.monotonic()
        let isFree = state.withLock { state in
            guard state.sent == nil else { return false }
            state.sent = now
            return true
        }
        if isFree { enqueue { [self] in arrive() } }
    }

    private func arrive() {
        let now = Clock.monotonic()
        // A forked child may run the work of its parent's queues.
        guard process == martlet_process() else { return }
        state.withLock { state in
            guard let sent = state.sent else { return }
            state.sent = nil
            state.hasReturned = true
            state.add(now - min(sent, now))
        }
    }

    /// Returns the delays since the last call; `nil` if none is known. The age of a pending probe is one of them,
    /// because its delay is at least as long.
    func take() -> ProcessStatistics.Samples? {
        let now = Clock.monotonic()
        return state.withLock { state in
            if let sent = state.sent, alwaysRuns || state.hasReturned, counted.contains(now - min(sent, now)) {
                state.add(now - min(sent, now))
            }
            defer { state.delays = nil }
            return state.delays
        }
    }
}

extension DelayProbe.State {
    fileprivate mutating func add(_ delay: UInt64) {
        let delay = ProcessStatistics.Samples(delay)
        if delays?.merge(delay) == nil { delays = delay }
    }
}
