import MartletTelemetry

/// Decides by the trace id alone whose details are kept, so that all services of a trace decide alike.
struct TraceSampler: Sendable {
    private let threshold: UInt64

    private static let range = UInt64(1) << 56

    /// - Parameter rate: The share of traces, 0 to 1; what is no number counts as 0.
    init(rate: Double) {
        let share = rate > 0 ? min(rate, 1) : 0
        threshold = UInt64((1 - share) * Double(Self.range))
    }

    /// The last seven bytes of an id are its randomness (W3C Trace Context Level 2, "Random Trace ID Flag").
    func samples(_ trace: TraceID) -> Bool { trace.low % Self.range >= threshold }

    /// The context of a new span: its parent's decision holds; a root decides.
    func span(childOf parent: TraceContext?) -> TraceContext {
        let traceID = parent?.traceID ?? TraceIDs.nextTrace()
        return TraceContext(
            traceID: traceID, spanID: TraceIDs.nextSpan(), isSampled: parent?.isSampled ?? samples(traceID),
            traceState: parent?.traceState ?? "")
    }
}
