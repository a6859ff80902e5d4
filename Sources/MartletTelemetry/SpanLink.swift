/// A span that this one is related to, but not as its child.
package struct SpanLink: Sendable, Equatable {
    package var traceID: TraceID
    package var spanID: SpanID
    package var attributes: [String: SpanAttribute]

    package init(traceID: TraceID, spanID: SpanID, attributes: [String: SpanAttribute] = [:]) {
        self.traceID = traceID
        self.spanID = spanID
        self.attributes = attributes
    }
}
