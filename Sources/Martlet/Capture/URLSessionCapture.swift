/// The requests of `URLSession`, for the agent. Has no effect on other systems than Linux. Thread-safe.
enum URLSessionCapture {
    /// Counts requests that are in flight for too long.
    static func countHung(into recorder: Recorder) {
        #if os(Linux)
        RequestInstrument(recorder: recorder).countHung()
        #endif
    }

    /// Forgets tasks that wait for their loader, if capture is off. To be called before it is switched on.
    static func forgetWaiting() {
        #if os(Linux)
        if !CaptureSwitch.isOn.load(ordering: .relaxed) { InFlightRequests.forgetWaiting() }
        #endif
    }

    /// Forgets tasks that were resumed long ago and never loaded. ``countHung(into:)`` does so too, but an agent in memory has
    /// no thread that calls it.
    static func forgetAbandoned() {
        #if os(Linux)
        InFlightRequests.forgetAbandoned()
        #endif
    }

    /// Returns the number of requests in flight in a scope, or outside any for `nil`, and the age of the oldest.
    static func inFlight(in scope: CaptureScope?) -> (count: Int, oldest: Duration) {
        #if os(Linux)
        InFlightRequests.summary(in: scope)
        #else
        (0, .zero)
        #endif
    }

    /// An estimate of the memory for requests in flight, in bytes.
    static var inFlightBytes: Int {
        #if os(Linux)
        InFlightRequests.estimatedBytes
        #else
        0
        #endif
    }

    /// Initializes statics ahead of the first request.
    static func prepare() {
        #if os(Linux)
        EasyHandle.initializeStatics()
        TaskTimeOut.initializeStatics()
        LocalServer.initializeStatics()
        #endif
    }

    /// Forgets the parent's requests in flight, in a forked child.
    static func forgetParentsRequests() {
        #if os(Linux)
        InFlightRequests.forgetParentsRequests()
        #endif
    }
}
