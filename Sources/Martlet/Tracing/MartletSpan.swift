public import Tracing

/// A span of ``MartletTracer``. Thread-safe; calls after its end are ignored.
public struct MartletSpan: Tracing.Span {
    /// The context for code within the span. Spans and requests that begin there have this span as their parent.
    public let context: ServiceContext
    /// The span's recording; `nil` where nothing is recorded.
    let recording: SpanRecording?

    /// Whether the span takes attributes. A running span of kind client or server takes them regardless of the sampling: it
    /// may be an HTTP request, and every HTTP request is counted.
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
