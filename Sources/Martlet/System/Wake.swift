import Dispatch
import Synchronization

/// Wakes the one thread that waits. A signal that comes while it does not wait is kept.
///
/// A `DispatchSemaphore` would not do: on Linux it waits by the wall clock (`sem_timedwait`), and a clock that is set back an
/// hour makes it wait an hour longer. A `DispatchGroup` waits for a length of time.
final class Wake: Sendable {
    private let state = Lock(State())

    private struct State {
        var isSignalled = false
        var sleeper: DispatchGroup?
    }

    func signal() {
        state.withLock { state in
            state.isSignalled = true
            state.sleeper?.leave()
            state.sleeper = nil
        }
    }

    /// Waits for a signal, for `nanoseconds` at most. For one thread alone.
    ///
    /// - Parameter around: runs the closure that it gets, in which the thread sleeps and does nothing else.
    func wait(nanoseconds: UInt64, around: (_ sleep: () -> Void) -> Void = { $0() }) {
        if let sleeper = fallAsleep() {
            let end = DispatchTime.now() + .nanoseconds(Int(clamping: nanoseconds))
            around { _ = sleeper.wait(timeout: end) }
        }
        state.withLock { state in
            state.sleeper?.leave()
            state = State()
        }
    }

    private func fallAsleep() -> DispatchGroup? {
        state.withLock { state in
            guard !state.isSignalled else { return nil }
            let sleeper = DispatchGroup()
            sleeper.enter()
            state.sleeper = sleeper
            return sleeper
        }
    }
}
