import MartletTelemetry

/// A property that requests can be grouped by. The raw value is the name on the command line, in a query and in a report.
package enum Dimension: String, Sendable, Hashable, CaseIterable {
    case service
    case kind
    case method
    case host
    case endpoint
    case status
    case error
    case version
    case instance

    /// Returns `nil` if the request has no value: no response, no error, a sender without a version.
    package func value(of dimensions: RequestDimensions, from resource: TelemetryResource) -> String? {
        switch self {
        case .service: resource.service
        case .kind: dimensions.kind.rawValue
        case .method: dimensions.method
        case .host: dimensions.authority
        case .endpoint: dimensions.endpoint
        case .status: dimensions.status.map(String.init)
        case .error: dimensions.error
        case .version: resource.version
        case .instance: resource.instance
        }
    }
}

extension RequestDimensions {
    /// Host and port as a URL writes them: `api.example.com:443`, `[::1]:8080`; the host alone where no port is known.
    package var authority: String {
        guard port > 0 else { return host }
        return host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}
