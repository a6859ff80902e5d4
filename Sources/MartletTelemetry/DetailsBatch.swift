/// The kept spans of one interval.
package struct DetailsBatch: Sendable, Equatable {
    package var resource: TelemetryResource
    package var details: [SpanRecord]

    package init(resource: TelemetryResource, details: [SpanRecord]) {
        self.resource = resource
        self.details = details
    }
}
