import MartletTelemetry
import ServiceContextModule

#if canImport(FoundationNetworking)
public import FoundationNetworking
#else
public import Foundation
#endif

/// The agent's interface to the capture of `URLSession`. Has no effect on systems other than Linux. Thread-safe.
enum URLSessionCapture {
    /// Counts requests that are in flight for too long.
    static func countHung(into recorder: Recorder) {
        #if os(Linux)
        RequestInstrument(recorder: recorder).countHung()
        #endif
    }

    /// Forgets tasks that wait for their loader, if capture is off. Call it before capture is switched on.
    static func forgetWaiting() {
        #if os(Linux)
        if !CaptureSwitch.isOn.load(ordering: .relaxed) { InFlightRequests.forgetWaiting() }
        #endif
    }

    /// Forgets tasks that were resumed long ago and never loaded. ``countHung(into:)`` does this too, but an in-memory
    /// agent has no thread that calls it.
    static func forgetAbandoned() {
        #if os(Linux)
        InFlightRequests.forgetAbandoned()
        #endif
    }

    /// Returns the number of requests in flight in a scope, or outside any scope for `nil`, and the age of the oldest.
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

    /// Initializes statics before the first request.
    static func prepare() {
        #if os(Linux)
        EasyHandle.initializeStatics()
        TaskTimeOut.initializeStatics()
        LocalServer.initializeStatics()
        #endif
    }

    /// Forgets the parent's requests in flight. For a forked child.
    static func forgetParentsRequests() {
        #if os(Linux)
        InFlightRequests.forgetParentsRequests()
        #endif
    }
}

extension URLSessionConfiguration {
    /// Lets Martlet capture the requests of sessions made with this configuration where it does not capture every session
    /// (`MARTLET_CAPTURE=explicit`, or a failed check at start; see `status.captureMode`).
    ///
    /// A service can always call it: it has no effect in automatic mode, and none on a Mac, where Martlet captures
    /// nothing. Call it before making the session, because a session copies its configuration. Martlet passes requests
    /// on to the session's own loader unchanged. If the service has its own protocols, `URLSession` asks them first, as
    /// without Martlet. Not thread-safe, like the configuration itself.
    public func captureWithMartlet() {
        #if os(Linux)
        var classes = protocolClasses ?? []
        guard !classes.contains(where: { $0 == ObservedProtocol.self }) else { return }
        let native = classes.firstIndex { $0 == NativeLoader.type } ?? classes.endIndex
        classes.insert(ObservedProtocol.self, at: native)
        protocolClasses = classes
        #endif
    }
}

extension EffectiveCapture {
    /// Installs the hooks that the mode needs. If automatic capture is not possible, the mode is explicit, with the
    /// reason.
    static func install(_ capture: MartletConfiguration.Capture) -> EffectiveCapture {
        #if os(Linux)
        return install(capture, automatic: AutomaticCapture.install)
        #else
        // For services that are developed on a Mac. This branch has not been tried there.
        return EffectiveCapture(mode: .off, reason: "URLSession capture works on Linux only")
        #endif
    }

    /// Installs the hooks that capture every session in a scope, regardless of the mode of the process's agent.
    static func installForScope() -> EffectiveCapture {
        #if os(Linux)
        var effective = automatic(AutomaticCapture.install)
        effective.limits = limits
        effective.rulesLimit = rulesLimit
        return effective
        #else
        return EffectiveCapture(mode: .off, reason: "URLSession capture works on Linux only")
        #endif
    }

    #if os(Linux)
    /// - Parameters:
    ///   - loader: Foundation's loader; `nil` if it was not found.
    ///   - automatic: the function that installs the hooks.
    static func install(
        _ capture: MartletConfiguration.Capture, loader: URLProtocol.Type? = NativeLoader.type,
        automatic install: () throws(AutomaticCapture.Failure) -> Void
    ) -> EffectiveCapture {
        guard loader != nil else {
            return EffectiveCapture(mode: .off, reason: AutomaticCapture.Failure.noNativeLoader.rawValue)
        }
        var effective = capture == .automatic ? automatic(install) : EffectiveCapture(mode: .explicit)
        effective.limits = limits
        effective.rulesLimit = rulesLimit
        return effective
    }

    private static var limits: [String] {
        limits(
            findsLibcurl: EasyHandle.hasLibcurl, findsHandle: EasyHandle.isAvailable,
            callsBeforeRequest: EasyHandle.canCallBeforeRequest)
    }

    /// Why no rule can be applied; `nil` if rules can. All kinds of rules have the same requirements.
    private static var rulesLimit: String? {
        guard EasyHandle.hasLibcurl, EasyHandle.isAvailable, EasyHandle.canCallBeforeRequest, EasyHandle.canDetour
        else {
            return "libcurl was not found, or is older than 7.80"
        }
        guard TaskQueue.isAvailable else { return "the queue of URLSession's tasks was not found" }
        return EasyHandle.isDebugged ? "URLSessionDebugLibcurl is in the environment" : nil
    }

    /// Returns the limits of capture, one sentence each.
    static func limits(findsLibcurl: Bool, findsHandle: Bool, callsBeforeRequest: Bool) -> [String] {
        guard findsLibcurl else {
            return [
                "libcurl was not found: requests have no phases and no sizes and send no trace headers"
            ]
        }
        guard findsHandle else {
            return ["libcurl's handle was not found: requests have no phases and send no trace headers"]
        }
        return callsBeforeRequest ? [] : ["libcurl is older than 7.80: requests send no trace headers"]
    }

    private static func automatic(_ install: () throws(AutomaticCapture.Failure) -> Void) -> EffectiveCapture {
        do {
            try install()
            return EffectiveCapture(mode: .automatic, missingHooks: { AutomaticCapture.missingHooks() })
        } catch {
            return EffectiveCapture(
                mode: .explicit,
                reason: "\(error.rawValue); call captureWithMartlet() on the configuration of each session")
        }
    }
    #endif
}

/// When, and in which trace, a request began for its caller. Made on the caller's thread, where the trace is known.
struct RequestStart: Sendable {
    let wall = Clock.wall()
    let monotonic = Clock.monotonic()
    let parent: TraceContext?
    /// The nearest span around the caller that may be a request; `nil` for none. If that span is itself a client
    /// request, only the inner request is counted.
    let enclosing: SpanRecording?
    /// The scope of the in-memory agent that the request belongs to; `nil` for the process's agent.
    let scope = CaptureSwitch.scope

    init() {
        let context = ServiceContext.current
        parent = context?.traceContext
        enclosing = context?.requestSpan
    }
}
