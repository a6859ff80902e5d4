import MartletTelemetry

/// A kept span and its sender.
package struct StoredSpan: Sendable, Equatable {
    /// The store's id of the span: some lower-case letters and digits.
    package var id: String
    package var resource: TelemetryResource
    package var span: SpanRecord

    package init(id: String, resource: TelemetryResource, span: SpanRecord) {
        self.id = id
        self.resource = resource
        self.span = span
    }
}

/// Kept spans of a trace in the order of their starts.
package struct TraceAnswer: Sendable, Equatable {
    package var spans: [StoredSpan]
    /// The number of spans that were left out.
    package var more: Int

    package init(spans: [StoredSpan], more: Int) {
        self.spans = spans
        self.more = more
    }
}
