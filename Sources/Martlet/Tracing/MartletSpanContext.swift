public import ServiceContextModule

/// The ids of a span, as they stand in `traceparent` and in Martlet's kept requests (OpenTelemetry specification, "SpanContext").
public struct MartletSpanContext: Sendable, Hashable {
    /// 32 lower-case hexadecimal digits.
    public let traceID: String
    /// 16 lower-case hexadecimal digits.
    public let spanID: String
    /// Whether details of the trace are kept.
    public let isSampled: Bool

    /// `trace_flags` in two hexadecimal digits: `01` for a sampled trace, else `00`.
    public var traceFlags: String { isSampled ? "01" : "00" }

    init(_ trace: TraceContext) {
        (traceID, spanID, isSampled) = ("\(trace.traceID)", "\(trace.spanID)", trace.isSampled)
    }
}

extension ServiceContext {
    /// The ids of the current span of ``MartletTracer``, or those that a remote caller sent; `nil` outside any trace. For the
    /// running task: `ServiceContext.current?.martletSpanContext`.
    public var martletSpanContext: MartletSpanContext? { traceContext.map(MartletSpanContext.init) }
}
