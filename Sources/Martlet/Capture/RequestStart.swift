import MartletTelemetry
import ServiceContextModule

/// When and where a request began for its caller: made on his thread, where his trace is known.
struct RequestStart: Sendable {
    let wall = Clock.wall()
    let monotonic = Clock.monotonic()
    let parent = ServiceContext.current?.traceContext
}
