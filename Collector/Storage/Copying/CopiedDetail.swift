import MartletTelemetry

/// A kept span.
package struct CopiedDetail: Sendable {
    /// The span's number, which grows in the order that spans came in.
    package var number: Int64
    package var resource: TelemetryResource
    package var span: SpanRecord
    /// The arrival, by the collector's clock.
    package var received: UnixNanoseconds

    package init(number: Int64, resource: TelemetryResource, span: SpanRecord, received: UnixNanoseconds) {
        self.number = number
        self.resource = resource
        self.span = span
        self.received = received
    }
}
