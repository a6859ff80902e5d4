import Synchronization

/// For how long capture was off while its agent ran, by the monotonic clock. Thread-safe.
final class UnwatchedTime: Sendable {
    private let state = Lock(State())

    private struct State {
        var total: UInt64 = 0
        /// Since when it is off.
        var since: UInt64?

        func nanoseconds(at now: UInt64) -> UInt64 { total &+ (since.map { now - min(now, $0) } ?? 0) }
    }

    /// Until ``end(at:)``.
    func begin(at now: UInt64 = Clock.monotonic()) { state.withLock { $0.since = $0.since ?? now } }

    func end(at now: UInt64 = Clock.monotonic()) {
        state.withLock { $0 = State(total: $0.nanoseconds(at: now)) }
    }

    /// Until this moment, where it goes on too.
    func nanoseconds(at now: UInt64 = Clock.monotonic()) -> UInt64 { state.withLock { $0.nanoseconds(at: now) } }

    /// Whether it goes on.
    var isRunning: Bool { state.withLock { $0.since != nil } }
}
