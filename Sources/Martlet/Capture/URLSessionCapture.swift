/// The instrument of `URLSession`, as the agent sees it; without effect where that is not Linux's. Thread-safe.
enum URLSessionCapture {
    /// Counts requests that are in flight for too long.
    static func countHung(into recorder: Recorder) {
        #if os(Linux)
        RequestInstrument(recorder: recorder).countHung()
        #endif
    }

    /// Forgets tasks that wait for their loader, while capture is off: to be called before it is switched on.
    static func forgetWaiting() {
        #if os(Linux)
        if !CaptureSwitch.isOn.load(ordering: .relaxed) { InFlightRequests.forgetWaiting() }
        #endif
    }

    /// Forgets tasks that were resumed long ago and never loaded. ``countHung(into:)`` does it too; an agent in memory has no
    /// thread that calls that.
    static func forgetAbandoned() {
        #if os(Linux)
        InFlightRequests.forgetAbandoned()
        #endif
    }

    /// How many requests have begun and not ended in the scope, or outside any, and the age of the oldest.
    static func inFlight(in scope: CaptureScope?) -> (count: Int, oldest: Duration) {
        #if os(Linux)
        InFlightRequests.summary(in: scope)
        #else
        (0, .zero)
        #endif
    }

    /// An estimate of the memory of requests that have not ended, in bytes.
    static var inFlightBytes: Int {
        #if os(Linux)
        InFlightRequests.estimatedBytes
        #else
        0
        #endif
    }

    /// Makes the values that are made at their first use, ahead of the first request.
    static func prepare() {
        #if os(Linux)
        EasyHandle.prepare()
        #endif
    }

    /// Forgets the parent's requests, in a forked child.
    static func beginAnew() {
        #if os(Linux)
        InFlightRequests.beginAnew()
        #endif
    }
}
