import CMartletHooks
import MartletTelemetry

/// A measurement of the time that work waits before an executor begins it. One probe at a time is under way, so an executor
/// that is stuck holds one small allocation. Thread-safe.
final class DelayProbe: Sendable {
    fileprivate struct State {
        /// The time at which the probe under way was sent; `nil` if none is.
        var sent: UInt64?
        var hasReturned = false
        var delays: ProcessStatistics.Samples?
    }

    /// The ages at which a probe that is under way counts, in nanoseconds.
    private let counted: ClosedRange<UInt64>
    /// Whether the executor is known to run, before any probe has come back.
    private let alwaysRuns: Bool
    private let process = martlet_process()
    private let state = Lock(State())

    /// - Parameters:
    ///   - least: the age from which a probe that is under way counts, with its age as its delay.
    ///   - most: the age up to which it counts; `nil` for no end.
    ///   - alwaysRuns: whether a first probe that does not come back counts too.
    init(countingFrom least: Duration, to most: Duration?, alwaysRuns: Bool) {
        counted = least.nanoseconds...max(least.nanoseconds, most?.nanoseconds ?? .max)
        self.alwaysRuns = alwaysRuns
    }

    /// Sends a probe, unless one is under way.
    ///
    /// - Parameter enqueue: has the executor call the closure.
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

    /// Returns the delays since the last call; `nil` if none is known. The age of a probe that is under way is one of them: its
    /// delay is at least as long.
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
