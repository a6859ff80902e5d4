import MartletTelemetry
import ServiceContextModule

/// The trace that a `ServiceContext` is in. One word, so that starting a span costs no allocation for it.
enum CurrentTrace: Sendable {
    /// A span of this process.
    case span(SpanRecording)
    /// A span without a recording here, such as the remote caller's: its ids and its trace state are known.
    indirect case context(TraceContext)
}

extension ServiceContext {
    private enum CurrentTraceKey: ServiceContextKey {
        typealias Value = CurrentTrace
        static var nameOverride: String? { "martlet-trace" }
    }

    var currentTrace: CurrentTrace? {
        get { self[CurrentTraceKey.self] }
        set { self[CurrentTraceKey.self] = newValue }
    }

    /// The trace context of the current span or of the remote caller; `nil` outside any trace.
    var traceContext: TraceContext? {
        get {
            switch currentTrace {
            case .span(let span): span.innerContext
            case .context(let context): context
            case nil: nil
            }
        }
        set { currentTrace = newValue.map(CurrentTrace.context) }
    }

    /// The recording of the current span, if that is a span of this process; `nil` where none is recorded.
    var spanRecording: SpanRecording? {
        guard case .span(let span)? = currentTrace else { return nil }
        return span
    }
}
