import MartletTelemetry
import ServiceContextModule

/// The time and the trace in which a request began for its caller. Made on the caller's thread, where the trace is known.
struct RequestStart: Sendable {
    let wall = Clock.wall()
    let monotonic = Clock.monotonic()
    let parent: TraceContext?
    /// The nearest span around the caller that may be a request; `nil` for none. If it is a client's request itself, only
    /// the inner request is counted.
    let enclosing: SpanRecording?
    /// The scope of the agent in memory that the request belongs to; `nil` for the process's agent.
    let scope = CaptureSwitch.scope

    init() {
        let context = ServiceContext.current
        parent = context?.traceContext
        enclosing = context?.requestSpan
    }
}
