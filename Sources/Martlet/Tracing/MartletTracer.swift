import MartletTelemetry
public import Tracing

/// Martlet as a backend of swift-distributed-tracing. ``MartletAgent/start()`` installs it, and spans of AsyncHTTPClient,
/// Hummingbird, gRPC and the service's own arrive here.
///
/// A span of kind client or server that is an HTTP request is counted like any other request, regardless of the sampling.
/// The tracer belongs to the process, not to one agent. While no agent runs, or none captures, its spans record nothing and
/// the caller's trace context passes through. Any thread may call it, and no call waits.
public struct MartletTracer: Tracer {
    /// Makes a tracer, which is equal to every other one. For a service that bootstraps tracing itself, in a
    /// `MultiplexInstrument` for instance.
    public init() {}

    public func startSpan<Instant: TracerInstant>(
        _ operationName: String, context: @autoclosure () -> ServiceContext, ofKind kind: SpanKind,
        at instant: @autoclosure () -> Instant, function: String, file fileID: String, line: UInt
    ) -> MartletSpan {
        let context = context()
        let scope = CaptureSwitch.scope
        guard let recorder = CaptureSwitch.recorder(in: scope) else {
            return MartletSpan(context: context, recording: nil)
        }
        let kind = SpanRecord.Kind(kind)
        guard recorder.allowance.traces else { return countedSpan(operationName, kind, context, scope, instant()) }
        let (settings, parent) = (recorder.settings, context.traceContext)
        if let parent, !parent.isSampled, kind.request == nil { return MartletSpan(context: context, recording: nil) }
        let trace = settings.sampler.span(childOf: parent)
        guard trace.isSampled || kind.request != nil else {
            // The span is not kept. Its children share the trace and its sampling decision.
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

    /// Returns a span that is only counted, and only if it is a request. The caller's trace context passes through it.
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

    /// Returns the span that a context is in, while it is recorded and has not ended; `nil` for none.
    public func activeSpan(identifiedBy context: ServiceContext) -> MartletSpan? {
        guard let recording = context.spanRecording, recording.isRunning else { return nil }
        return MartletSpan(context: context, recording: recording)
    }

    /// Does nothing; ``MartletAgent/flush()`` waits for delivery.
    public func forceFlush() {}

    /// Writes `traceparent` and, if the trace has one, `tracestate`. Writes nothing outside a trace, or where
    /// ``MartletConfiguration/propagate`` is off.
    public func inject<Carrier, Inject: Injector>(
        _ context: ServiceContext, into carrier: inout Carrier, using injector: Inject
    ) where Inject.Carrier == Carrier {
        guard let trace = context.traceContext,
            CaptureSwitch.recorder(in: CaptureSwitch.scope)?.settings.propagates != false
        else {
            return
        }
        injector.inject(TraceParent(trace).text, forKey: TraceParent.headerName, into: &carrier)
        guard !trace.traceState.isEmpty else { return }
        injector.inject(trace.traceState, forKey: TraceState.headerName, into: &carrier)
    }

    /// Reads `traceparent` and `tracestate`. Headers that W3C Trace Context does not allow are ignored.
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
    fileprivate func with(_ trace: CurrentTrace) -> ServiceContext {
        var context = self
        context.currentTrace = trace
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

    /// The kind of HTTP request that a span of this kind may be; `nil` for none.
    var request: RequestKind? {
        switch self {
        case .client: .client
        case .server: .server
        case .internal, .producer, .consumer: nil
        }
    }
}
