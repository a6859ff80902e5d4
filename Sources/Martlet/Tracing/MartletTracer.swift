import MartletTelemetry
import ServiceContextModule
import Synchronization
public import Tracing

/// Martlet's backend for swift-distributed-tracing. ``MartletAgent/start()`` installs it. It receives the spans of
/// AsyncHTTPClient, Hummingbird, gRPC and the service itself.
///
/// A span of kind client or server that is an HTTP request is counted like any other request, even if it is not
/// sampled. So is a call of a database or a message broker. The tracer belongs to the process, not to one agent. While
/// no agent runs, or none captures, its spans record nothing and the caller's trace context passes through. Any thread
/// may call it, and no call waits.
public struct MartletTracer: Tracer {
    /// Makes a tracer. All tracers are interchangeable. For a service that bootstraps tracing itself, for instance in a
    /// `MultiplexInstrument`.
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

    /// Returns the span of a context, while it is recorded and has not ended; `nil` for none.
    public func activeSpan(identifiedBy context: ServiceContext) -> MartletSpan? {
        guard let recording = context.spanRecording, recording.isRunning else { return nil }
        return MartletSpan(context: context, recording: recording)
    }

    /// Does nothing; ``MartletAgent/flush()`` waits for delivery.
    public func forceFlush() {}

    /// Writes `traceparent` and, if the trace has one, `tracestate`. Writes nothing outside a trace, if
    /// ``MartletConfiguration/propagate`` is off, or if ``MartletConfiguration/propagateTo`` does not match the target that
    /// the attributes of the context's client span name.
    public func inject<Carrier, Inject: Injector>(
        _ context: ServiceContext, into carrier: inout Carrier, using injector: Inject
    ) where Inject.Carrier == Carrier {
        guard let trace = context.traceContext,
            CaptureSwitch.recorder(in: CaptureSwitch.scope)?.settings.propagates(to: context.spanRecording?.target)
                != false
        else {
            return
        }
        injector.inject(TraceParent(trace).text, forKey: TraceParent.headerName, into: &carrier)
        guard !trace.traceState.isEmpty else { return }
        injector.inject(trace.traceState, forKey: TraceState.headerName, into: &carrier)
    }

    /// Reads `traceparent` and `tracestate`. Headers that W3C Trace Context does not allow are ignored. Whether the trace is
    /// sampled may be decided here: see ``MartletConfiguration/trustCallers``.
    public func extract<Carrier, Extract: Extractor>(
        _ carrier: Carrier, into context: inout ServiceContext, using extractor: Extract
    ) where Extract.Carrier == Carrier {
        guard let header = extractor.extract(key: TraceParent.headerName, from: carrier),
            let parent = TraceParent(header)
        else { return }
        let state = extractor.extract(key: TraceState.headerName, from: carrier)
        let recorder = CaptureSwitch.recorder(in: CaptureSwitch.scope)
        let sampler = recorder?.allowance.traces == true ? recorder?.settings.sampler : nil
        context.traceContext = TraceContext(
            traceID: parent.traceID, spanID: parent.spanID, isSampled: sampler?.samples(parent) ?? parent.isSampled,
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

    /// The kind of request that a span of this kind may be; `nil` for none.
    var request: RequestKind? {
        switch self {
        case .client, .producer: .client
        case .server: .server
        case .internal, .consumer: nil
        }
    }
}

/// The trace of a `ServiceContext`. It is one word, so that starting a span needs no allocation for it.
enum CurrentTrace: Sendable {
    /// A span of this process.
    case span(SpanRecording)
    /// A span that is not recorded here, such as the remote caller's: only its ids and its trace state are known.
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

    /// The recording of the current span, if that is a span of this process; `nil` if none is recorded.
    var spanRecording: SpanRecording? {
        guard case .span(let span)? = currentTrace else { return nil }
        return span
    }
}

/// Installs ``MartletTracer`` as the process's tracer, unless it has one.
enum TracingBootstrap {
    private static let isDone = ProcessLock(false)

    /// Installs the tracer and logs it, once in a process. If the service bootstraps another tracer later, it traps
    /// with a message that does not name Martlet; the log explains it. Thread-safe.
    ///
    /// `InstrumentationSystem.bootstrap(_:)` traps at the second call, and no function shows whether there was a first.
    /// So this checks whether the instrument is still the initial placeholder. A tracer for a scope (`withTracer`)
    /// hides the process's tracer, so in such a scope this does nothing.
    static func install(_ log: AgentLog) {
        switch bootstrap() {
        case .isDone: return
        case .isNew:
            log.notice(
                """
                Martlet is the backend of swift-distributed-tracing; a second bootstrap ends the process, \
                so set MARTLET_TRACING=false if the service bootstraps its own tracer
                """)
        case .isTaken(let present):
            log.warning(
                """
                Tracing is already bootstrapped with \(type(of: present)); \
                to use Martlet as well, bootstrap a MultiplexInstrument that includes MartletTracer
                """)
        }
    }

    private enum Outcome {
        /// Martlet was already the process's tracer.
        case isDone
        case isNew
        case isTaken(any Instrument)
    }

    private static func bootstrap() -> Outcome {
        isDone.withLock { isDone in
            if isDone || InstrumentationSystem.tracer is MartletTracer { return .isDone }
            let present = InstrumentationSystem.instrument
            guard present is NoOpInstrument else { return .isTaken(present) }
            InstrumentationSystem.bootstrap(MartletTracer())
            isDone = true
            return .isNew
        }
    }
}
