import MartletTelemetry

/// A span's position in its trace, as W3C Trace Context carries it from one service to the next.
struct TraceContext: Sendable, Hashable {
    var traceID: TraceID
    var spanID: SpanID
    /// Whether details of the trace are kept, as decided at its root (W3C Trace Context, section 3.2.2.5.1).
    var isSampled: Bool
    /// The state of other vendors, carried on unchanged (section 3.3); empty for none.
    var traceState = ""
}
