import MartletTelemetry
import ServiceContextModule

/// What a `ServiceContext` knows of its trace. One word, so that a span that starts costs no allocation for it.
enum TracePlace: Sendable {
    /// A span of this process.
    case span(SpanRecording)
    /// A span of which only the ids are known: the remote caller's.
    indirect case context(TraceContext)
}

extension ServiceContext {
    private enum TracePlaceKey: ServiceContextKey {
        typealias Value = TracePlace
        static var nameOverride: String? { "martlet-trace" }
    }

    var tracePlace: TracePlace? {
        get { self[TracePlaceKey.self] }
        set { self[TracePlaceKey.self] = newValue }
    }

    /// The span that runs, or the remote one that called; `nil` outside any trace.
    var traceContext: TraceContext? {
        get {
            switch tracePlace {
            case .span(let span): span.trace
            case .context(let context): context
            case nil: nil
            }
        }
        set { tracePlace = newValue.map(TracePlace.context) }
    }

    /// The span of this process that runs, or in whose context code runs; `nil` where none is recorded.
    var spanRecording: SpanRecording? {
        guard case .span(let span)? = tracePlace else { return nil }
        return span
    }
}
