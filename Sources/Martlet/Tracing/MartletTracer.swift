import MartletTelemetry
public import Tracing

/// Martlet as a backend of swift-distributed-tracing: ``MartletAgent/start()`` installs it, and spans of
/// AsyncHTTPClient, Hummingbird, gRPC and the service's own arrive here.
///
/// A span of kind client or server that is an HTTP request is counted like any other request, whatever the sampling. It
/// belongs to the process, not to one agent: while none runs, or none captures, its spans record nothing, and the trace
/// context of the caller passes through. All of it may be called from any thread, and nothing waits.
public struct MartletTracer: Tracer {
    /// Equal to every other one; for a service that bootstraps tracing itself, in a `MultiplexInstrument` for instance.
    public init() {}

    public func startSpan<Instant: TracerInstant>(
        _ operationName: String, context: @autoclosure () -> ServiceContext, ofKind kind: SpanKind,
        at instant: @autoclosure () -> Instant, function: String, file fileID: String, line: UInt
    ) -> MartletSpan {
        let context = context()
        let scope = CaptureSwitch.scope
        guard let recorder = CaptureSwitch.recorder(in: scope) else { return MartletSpan(context: context, recording: nil) }
        let kind = SpanRecord.Kind(kind)
        guard recorder.allowance.traces else { return countedSpan(operationName, kind, context, scope, instant()) }
        let (settings, parent) = (recorder.settings, context.traceContext)
        if let parent, !parent.isSampled, kind.request == nil { return MartletSpan(context: context, recording: nil) }
        let trace = settings.sampler.span(childOf: parent)
        guard trace.isSampled || kind.request != nil else {
            // Nothing of it is kept; its children share the trace and its decision.
            return MartletSpan(context: context.with(.context(trace)), recording: nil)
        }
        let start = instant().nanosecondsSinceEpoch
        return AgentCost.measure {
            let recording = SpanRecording(
                operationName, trace, parent: parent?.spanID, within: context.requestSpan, kind: kind, start: start,
                scope: scope)
            return MartletSpan(context: context.with(.span(recording)), recording: recording)
        }
    }

    /// A span that is nothing but counted where it is a request: the trace goes through it as if it was not there.
    private func countedSpan(
        _ name: String, _ kind: SpanRecord.Kind, _ context: ServiceContext, _ scope: CaptureScope?,
        _ instant: @autoclosure () -> some TracerInstant
    ) -> MartletSpan {
        guard kind.request != nil else { return MartletSpan(context: context, recording: nil) }
        let start = instant().nanosecondsSinceEpoch
        return AgentCost.measure {
            let recording = SpanRecording(
                countedOnly: name, context.traceContext, within: context.requestSpan, kind: kind, start: start,
                scope: scope)
            return MartletSpan(context: context.with(.span(recording)), recording: recording)
        }
    }

    public func startAnySpan<Instant: TracerInstant>(
        _ operationName: String, context: @autoclosure () -> ServiceContext, ofKind kind: SpanKind,
        at instant: @autoclosure () -> Instant, function: String, file fileID: String, line: UInt
    ) -> any Tracing.Span {
        startSpan(
            operationName, context: context(), ofKind: kind, at: instant(), function: function, file: fileID, line: line
        )
    }

    /// Does nothing: ``MartletAgent/flush()`` is what waits.
    public func forceFlush() {}

    /// Writes `traceparent` and, where there is one, `tracestate`; nothing outside a trace, or where
    /// ``MartletConfiguration/propagate`` is off.
    public func inject<Carrier, Inject: Injector>(
        _ context: ServiceContext, into carrier: inout Carrier, using injector: Inject
    ) where Inject.Carrier == Carrier {
        guard let trace = context.traceContext, CaptureSwitch.recorder(in: CaptureSwitch.scope)?.settings.propagates != false else {
            return
        }
        injector.inject(TraceParent(trace).text, forKey: TraceParent.headerName, into: &carrier)
        guard !trace.traceState.isEmpty else { return }
        injector.inject(trace.traceState, forKey: TraceState.headerName, into: &carrier)
    }

    /// Reads `traceparent` and `tracestate`; headers that W3C Trace Context does not allow are ignored.
    public func extract<Carrier, Extract: Extractor>(
        _ carrier: Carrier, into context: inout ServiceContext, using extractor: Extract
    ) where Extract.Carrier == Carrier {
        guard let header = extractor.extract(key: TraceParent.headerName, from: carrier),
            let parent = TraceParent(header)
        else { return }
        let state = extractor.extract(key: TraceState.headerName, from: carrier)
        context.traceContext = TraceContext(
            traceID: parent.traceID, spanID: parent.spanID, isSampled: parent.isSampled,
            traceState: state.map(TraceState.passedOn) ?? "")
    }
}

extension ServiceContext {
    fileprivate func with(_ place: TracePlace) -> ServiceContext {
        var context = self
        context.tracePlace = place
        return context
    }
}

extension SpanRecord.Kind {
    fileprivate init(_ kind: SpanKind) {
        self =
            switch kind {
            case .internal: .internal
            case .client: .client
            case .server: .server
            case .producer: .producer
            case .consumer: .consumer
            }
    }

    /// What a span of the kind is where it is an HTTP request.
    var request: RequestKind? {
        switch self {
        case .client: .client
        case .server: .server
        case .internal, .producer, .consumer: nil
        }
    }
}
