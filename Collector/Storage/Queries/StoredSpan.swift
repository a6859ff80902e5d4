import MartletTelemetry

/// A kept span and its sender.
package struct StoredSpan: Sendable, Equatable {
    package var resource: TelemetryResource
    package var span: SpanRecord

    package init(resource: TelemetryResource, span: SpanRecord) {
        self.resource = resource
        self.span = span
    }
}
