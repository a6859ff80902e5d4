import MartletTelemetry
import ServiceContextModule

/// When and where a request began for its caller: made on his thread, where his trace is known.
struct RequestStart: Sendable {
    let wall = Clock.wall()
    let monotonic = Clock.monotonic()
    let parent: TraceContext?
    /// The span of the caller's that is not to be counted as well, where it is a client's request.
    let enclosing: SpanRecording?
    /// The agent in memory that it belongs to; `nil` for the process's.
    let scope = CaptureSwitch.scope

    init() {
        let context = ServiceContext.current
        parent = context?.traceContext
        enclosing = context?.requestSpan
    }
}
