public import Tracing

/// A span of ``MartletTracer``. Thread-safe; what happens to it after its end is ignored.
public struct MartletSpan: Tracing.Span {
    /// For what runs within the span: makes it the parent of the spans and requests there.
    public let context: ServiceContext
    /// `nil` where nothing is recorded.
    let recording: SpanRecording?

    /// False where attributes would be of no use. Spans of kind client and server want them whatever the sampling: they
    /// may be HTTP requests, and those are all counted.
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

    /// Adds an event `exception` (semantic conventions, "Exceptions on spans"). The status is the caller's to set.
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
