import CMartletHooks

/// Requests of other threads to the agent's thread: to flush, or to flush and stop. Thread-safe.
final class FlushRequests: Sendable {
    private let state = Lock(State())
    private let wake = Wake()

    private struct State {
        var flushes: [@Sendable () -> Void] = []
        /// The time by which the thread must be done, in nanoseconds of the monotonic clock; `nil` until it is to stop.
        var stopBy: UInt64?
        var isFinished = false
    }

    /// Calls `done` when everything recorded so far was uploaded, or one attempt at it failed, or shipping has ended.
    func flush(_ done: @escaping @Sendable () -> Void) {
        let isFinished = state.withLock { state in
            if !state.isFinished { state.flushes.append(done) }
            return state.isFinished
        }
        if isFinished { done() } else { wake.signal() }
    }

    /// Flushes like ``flush(_:)``, and ends shipping, after `limit` at the latest.
    func stop(within limit: Duration, _ done: @escaping @Sendable () -> Void) {
        let stopBy = Clock.monotonic() &+ limit.nanoseconds
        state.withLock { $0.stopBy = min(stopBy, $0.stopBy ?? .max) }
        flush(done)
    }

    /// Wakes the agent's thread.
    func signal() { wake.signal() }

    // MARK: For the agent's thread alone

    /// Waits for a signal, or until `deadline`; returns at once if a flush or the end is asked for. The requests are looked at
    /// first, because ``wait(until:)`` may have taken the signal during an upload.
    func waitForRequest(until deadline: UInt64) {
        if !isCallerWaiting { wait(until: deadline) }
    }

    /// Whether a caller waits for a flush or for the end.
    var isCallerWaiting: Bool { state.withLock { !$0.flushes.isEmpty || $0.stopBy != nil } }

    /// Waits for a signal, or until `deadline` or the time to stop has come. A fork may happen meanwhile.
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

    /// The time by which the thread must be done, in nanoseconds of the monotonic clock; `nil` until it is to stop.
    var stopBy: UInt64? { state.withLock { $0.stopBy } }

    func takeFlushes() -> [@Sendable () -> Void] {
        state.withLock { state in
            defer { state.flushes = [] }
            return state.flushes
        }
    }

    /// Answers all that wait, and from now on every request at once.
    func finish() {
        let waiting = state.withLock { state in
            state.isFinished = true
            defer { state.flushes = [] }
            return state.flushes
        }
        for done in waiting { done() }
    }
}
