import MartletTelemetry

/// The sampler that decides which traces' details are kept. It uses the trace id alone, so that all services of a trace
/// decide alike.
struct TraceSampler: Sendable {
    private let threshold: UInt64

    private static let range = UInt64(1) << 56

    /// - Parameter rate: the share of traces, 0 to 1; NaN counts as 0.
    init(rate: Double) {
        let share = rate > 0 ? min(rate, 1) : 0
        threshold = UInt64((1 - share) * Double(Self.range))
    }

    /// Returns whether a trace's details are kept. The last seven bytes of an id are its randomness (W3C Trace Context
    /// Level 2, "Random Trace ID Flag").
    func samples(_ trace: TraceID) -> Bool { trace.low % Self.range >= threshold }

    /// Returns the context of a new span. It takes over its parent's decision, and a root decides for itself.
    func span(childOf parent: TraceContext?) -> TraceContext {
        let traceID = parent?.traceID ?? TraceIDs.nextTrace()
        return TraceContext(
            traceID: traceID, spanID: TraceIDs.nextSpan(), isSampled: parent?.isSampled ?? samples(traceID),
            traceState: parent?.traceState ?? "")
    }
}
