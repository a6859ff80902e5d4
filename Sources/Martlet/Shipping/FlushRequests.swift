import CMartletHooks

/// The requests of other threads to the agent's thread: to flush, or to flush and stop. Thread-safe.
final class FlushRequests: Sendable {
    private let state = Lock(State())
    private let wake = Wake()

    private struct State {
        var flushes: [@Sendable (Bool) -> Void] = []
        /// When the thread must be done, in nanoseconds of the monotonic clock; `nil` until it is asked to stop.
        var stopBy: UInt64?
        /// Whether everything was delivered when shipping ended; `nil` until it ends.
        var wasDelivered: Bool?
    }

    /// Calls `done` when everything recorded so far was uploaded, when one attempt failed, or when shipping has ended.
    /// Passes it whether everything recorded so far was delivered.
    func flush(_ done: @escaping @Sendable (Bool) -> Void) {
        let wasDelivered = state.withLock { state in
            if state.wasDelivered == nil { state.flushes.append(done) }
            return state.wasDelivered
        }
        if let wasDelivered { done(wasDelivered) } else { wake.signal() }
    }

    /// Flushes like ``flush(_:)`` and then ends shipping, at the latest after `limit`.
    func stop(within limit: Duration, _ done: @escaping @Sendable (Bool) -> Void) {
        let stopBy = Clock.monotonic() &+ limit.nanoseconds
        state.withLock { $0.stopBy = min(stopBy, $0.stopBy ?? .max) }
        flush(done)
    }

    /// Wakes the agent's thread.
    func signal() { wake.signal() }

    // MARK: Only for the agent's thread

    /// Waits for a signal, or until `deadline`. Returns at once if a flush or the end was requested. Checks the
    /// requests first, because ``wait(until:)`` may have consumed the signal during an upload.
    func waitForRequest(until deadline: UInt64) {
        if !isCallerWaiting { wait(until: deadline) }
    }

    /// Whether a caller is waiting for a flush or for shipping to end.
    var isCallerWaiting: Bool { state.withLock { !$0.flushes.isEmpty || $0.stopBy != nil } }

    /// Waits for a signal, until `deadline`, or until the time to stop. The process may fork meanwhile.
    func wait(until deadline: UInt64) {
        let now = Clock.monotonic()
        let until = min(deadline, stopBy ?? .max)
        guard until > now else { return }
        wake.wait(nanoseconds: until - now) { sleep in
            martlet_end_work()
            sleep()
            martlet_begin_work()
        }
    }

    /// When the thread must be done, in nanoseconds of the monotonic clock; `nil` until it is asked to stop.
    var stopBy: UInt64? { state.withLock { $0.stopBy } }

    func takeFlushes() -> [@Sendable (Bool) -> Void] {
        state.withLock { state in
            defer { state.flushes = [] }
            return state.flushes
        }
    }

    /// Answers all waiting callers now, and later ones at once.
    ///
    /// - Parameter wasDelivered: whether everything recorded so far was delivered.
    func finish(_ wasDelivered: Bool) {
        let waiting = state.withLock { state in
            state.wasDelivered = wasDelivered
            defer { state.flushes = [] }
            return state.flushes
        }
        for done in waiting { done(wasDelivered) }
    }
}
