/// The requests of one interval whose details were kept.
package struct DetailsBatch: Sendable, Equatable {
    package var resource: TelemetryResource
    package var details: [RequestDetail]

    package init(resource: TelemetryResource, details: [RequestDetail]) {
        self.resource = resource
        self.details = details
    }
}
