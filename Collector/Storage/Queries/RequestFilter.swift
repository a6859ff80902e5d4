import MartletTelemetry

/// The requests that a query selects; `nil` leaves a dimension open.
package struct RequestFilter: Sendable, Equatable {
    package var service: String?
    package var kind: RequestKind?
    /// The host, with the port or without it.
    package var host: String?
    package var endpoint: String?
    package var status: StatusFilter?
    /// `error.type`
    package var error: String?

    package init(
        service: String? = nil, kind: RequestKind? = nil, host: String? = nil, endpoint: String? = nil,
        status: StatusFilter? = nil, error: String? = nil
    ) {
        self.service = service
        self.kind = kind
        self.host = host
        self.endpoint = endpoint
        self.status = status
        self.error = error
    }

    package func matches(_ dimensions: RequestDimensions, from resource: TelemetryResource) -> Bool {
        Self.allows(service, resource.service)
            && Self.allows(kind, dimensions.kind)
            && (Self.allows(host, dimensions.host) || Self.allows(host, dimensions.authority))
            && Self.allows(endpoint, dimensions.endpoint)
            && Self.allows(error, dimensions.error)
            && (status?.matches(dimensions.status) ?? true)
    }

    private static func allows<Value: Equatable>(_ wanted: Value?, _ value: Value?) -> Bool {
        wanted == nil || wanted == value
    }
}
