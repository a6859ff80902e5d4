public import Logging
public import ServiceContextModule
public import Tracing

/// A span of ``MartletTracer``. Thread-safe; calls after its end are ignored.
public struct MartletSpan: Tracing.Span {
    /// The context for code within the span. Spans and requests that begin there have this span as their parent.
    public let context: ServiceContext
    /// The span's recording; `nil` if nothing is recorded.
    let recording: SpanRecording?

    /// Whether the span accepts attributes. A running span of kind client, server or producer does so even if it is not
    /// sampled: it may be a request, and every request is counted.
    public var isRecording: Bool { recording?.isRunning ?? false }

    public var operationName: String {
        get { recording?.name ?? "" }
        nonmutating set { recording?.name = newValue }
    }

    public var attributes: SpanAttributes {
        get { recording?.attributes ?? [:] }
        nonmutating set { recording?.attributes = newValue }
    }

    public func setStatus(_ status: SpanStatus) { recording?.setStatus(status) }

    public func addEvent(_ event: SpanEvent) { recording?.add(event) }

    public func addLink(_ link: SpanLink) { recording?.add(link) }

    /// Adds an event `exception` (semantic conventions, "Exceptions on spans"). The caller sets the status.
    public func recordError<Instant: TracerInstant>(
        _ error: any Error, attributes: SpanAttributes, at instant: @autoclosure () -> Instant
    ) {
        recording?.record(error, attributes: attributes, at: instant())
    }

    public func end<Instant: TracerInstant>(at instant: @autoclosure () -> Instant) {
        guard let recording else { return }
        let end = instant().nanosecondsSinceEpoch
        AgentCost.measure { recording.end(at: end) }
    }
}

/// The ids of a span, as in `traceparent` and in Martlet's kept requests (OpenTelemetry specification, "SpanContext").
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
    /// The ids of the current span of ``MartletTracer``, or those that a remote caller sent; `nil` outside any trace.
    /// For the running task: `ServiceContext.current?.martletSpanContext`.
    public var martletSpanContext: MartletSpanContext? { traceContext.map(MartletSpanContext.init) }
}

extension Logger.MetadataProvider {
    /// Adds `trace_id`, `span_id` and `trace_flags` of the current span to each line of a log (OpenTelemetry
    /// specification, "Trace Context in non-OTLP Log Formats"). Adds nothing outside a trace. Any thread may call it,
    /// and no call waits.
    ///
    ///     LoggingSystem.bootstrap(StreamLogHandler.standardError, metadataProvider: .martlet)
    ///
    /// A service that already has a provider can combine both: `.multiplex([yours, .martlet])`.
    public static let martlet = Logger.MetadataProvider {
        guard let span = ServiceContext.current?.martletSpanContext else { return [:] }
        return [
            "trace_id": .string(span.traceID), "span_id": .string(span.spanID), "trace_flags": .string(span.traceFlags),
        ]
    }
}
