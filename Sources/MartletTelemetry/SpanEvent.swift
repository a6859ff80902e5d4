/// An event at a moment within a span.
package struct SpanEvent: Sendable, Equatable {
    package var name: String
    package var time: UnixNanoseconds
    package var attributes: [String: SpanAttribute]

    package init(name: String, time: UnixNanoseconds, attributes: [String: SpanAttribute] = [:]) {
        self.name = name
        self.time = time
        self.attributes = attributes
    }
}
