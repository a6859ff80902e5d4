import Synchronization

/// Measures the time for which capture is off while its agent runs, by the monotonic clock. Thread-safe.
final class UnwatchedStopwatch: Sendable {
    private let state = Lock(State())

    private struct State {
        var total: UInt64 = 0
        /// The time since which capture is off; `nil` while it is on.
        var since: UInt64?

        func nanoseconds(at now: UInt64) -> UInt64 { total &+ (since.map { now - min(now, $0) } ?? 0) }
    }

    /// Notes that capture is off, until ``end(at:)``.
    func begin(at now: UInt64 = Clock.monotonic()) { state.withLock { $0.since = $0.since ?? now } }

    func end(at now: UInt64 = Clock.monotonic()) {
        state.withLock { $0 = State(total: $0.nanoseconds(at: now)) }
    }

    /// Returns the nanoseconds without capture until `now`, with those of a period that has not ended.
    func nanoseconds(at now: UInt64 = Clock.monotonic()) -> UInt64 { state.withLock { $0.nanoseconds(at: now) } }

    /// Whether the time counts at this moment, because capture is off.
    var isCounting: Bool { state.withLock { $0.since != nil } }
}
