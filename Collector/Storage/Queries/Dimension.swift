import MartletTelemetry

/// A property that requests can be grouped and filtered by. The raw value is the name on the command line, in a query and in a
/// report.
package enum Dimension: String, Sendable, Hashable, CaseIterable {
    case service
    case environment
    case kind
    case method
    case host
    case endpoint
    case status
    case error
    case rule
    case version
    case instance

    /// Whether the sender alone decides the value.
    package var isOfSender: Bool {
        switch self {
        case .service, .environment, .version, .instance: true
        case .kind, .method, .host, .endpoint, .status, .error, .rule: false
        }
    }

    /// Returns `nil` if the request has no value: no response, no error, no rule, a sender without a version.
    package func value(of dimensions: RequestDimensions, from resource: TelemetryResource) -> String? {
        isOfSender ? value(of: resource) : value(of: dimensions)
    }

    /// Returns `nil` if the sender has no value, or does not decide it.
    package func value(of resource: TelemetryResource) -> String? {
        switch self {
        case .service: resource.service
        case .environment: resource.environment
        case .version: resource.version
        case .instance: resource.instance
        case .kind, .method, .host, .endpoint, .status, .error, .rule: nil
        }
    }

    /// Returns `nil` if the request has no value, or its sender decides it.
    package func value(of dimensions: RequestDimensions) -> String? {
        switch self {
        case .kind: dimensions.kind.rawValue
        case .method: dimensions.method
        case .host: dimensions.authority
        case .endpoint: dimensions.endpoint
        case .status: dimensions.status.map(String.init)
        case .error: dimensions.error
        case .rule: dimensions.rule
        case .service, .environment, .version, .instance: nil
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

/// A question for the values of a dimension, for choices and for the name that a person meant.
package struct ValuesQuery: Sendable, Equatable {
    package var dimension: Dimension
    /// The time in which the values occurred. A store may answer for whole days.
    package var window: TimeWindow
    package var filter: RequestFilter
    /// Values at most.
    package var limit: Int

    package init(_ dimension: Dimension, window: TimeWindow, filter: RequestFilter = RequestFilter(), limit: Int) {
        self.dimension = dimension
        self.window = window
        self.filter = filter
        self.limit = limit
    }
}

/// The values of a dimension, in the order of their bytes.
package struct ValuesAnswer: Sendable, Equatable {
    package var values: [String]
    /// Whether values were left out.
    package var isThereMore: Bool

    package init(values: [String], isThereMore: Bool) {
        self.values = values
        self.isThereMore = isThereMore
    }
}
