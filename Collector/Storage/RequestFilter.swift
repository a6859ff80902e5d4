import MartletTelemetry

/// The requests that a query selects. In each dimension with wanted values, a request must have one of them.
///
/// An empty value selects requests without a value: for example, without a status, because no response came. A host may be
/// given with or without its port, in upper or lower case. A status may be a class such as `5xx`.
package struct RequestFilter: Sendable, Equatable {
    /// The wanted values. A dimension without an entry selects all requests.
    package private(set) var wanted: [Dimension: Set<String>] = [:]

    package init(_ wanted: [Dimension: Set<String>] = [:]) {
        for (dimension, values) in wanted {
            for value in values { select(dimension, value) }
        }
    }

    /// Adds a wanted value of a dimension.
    package mutating func select(_ dimension: Dimension, _ value: String) {
        switch dimension {
        case .status: wanted[dimension, default: []].insert(value.lowercased())
        case .host: wanted[dimension, default: []].insert(RequestDimensions.storedHost(value))
        default: wanted[dimension, default: []].insert(value)
        }
    }

    /// Removes the condition on a dimension.
    package mutating func removeAll(_ dimension: Dimension) {
        wanted[dimension] = nil
    }

    /// The conditions on senders.
    package var ofSenders: RequestFilter {
        var filter = self
        filter.wanted = wanted.filter { $0.key.isSenderAttribute }
        return filter
    }

    /// Whether the filter selects senders by more than their service and environment, such as by version or instance.
    package var selectsProcesses: Bool {
        wanted.keys.contains { $0.isSenderAttribute && $0 != .service && $0 != .environment }
    }

    /// Whether the filter has conditions on senders.
    package var selectsSenders: Bool { wanted.keys.contains(where: \.isSenderAttribute) }

    /// Whether the filter has conditions on requests.
    package var selectsRequests: Bool { wanted.keys.contains { !$0.isSenderAttribute } }

    /// Whether the filter selects the sender. Otherwise it leaves out all of the sender's requests.
    package func matches(_ resource: TelemetryResource) -> Bool {
        wanted.allSatisfy { dimension, values in
            !dimension.isSenderAttribute || values.contains(dimension.value(of: resource) ?? "")
        }
    }

    /// Whether the filter selects a host.
    ///
    /// - Parameter host: the host with its port (``Dimension/host``).
    package func matches(host: String) -> Bool {
        guard let values = wanted[.host] else { return true }
        let name = host.lastIndex(of: ":").map { RequestDimensions.storedHost(host[..<$0]) }
        return values.contains(host) || name.map(values.contains) ?? false
    }

    /// Whether the filter selects a request by its dimensions. Dimensions that the sender decides are not checked.
    package func matches(_ dimensions: RequestDimensions) -> Bool {
        wanted.allSatisfy { dimension, values in
            switch dimension {
            case .host: values.contains(dimensions.host) || values.contains(dimensions.authority)
            case .status: values.contains { StatusPattern($0)?.matches(dimensions.status) ?? false }
            default: dimension.isSenderAttribute || values.contains(dimension.value(of: dimensions) ?? "")
            }
        }
    }
}

/// The statuses that a filter's value selects.
package enum StatusPattern: Sendable, Equatable {
    /// Requests without a response.
    case none
    /// One status, such as `404`.
    case code(Int)
    /// All statuses of a class (RFC 9110, section 15), such as `5xx`.
    case group(Int)

    /// Returns `nil` unless the text is empty, a status or a class of statuses.
    package init?(_ text: String) {
        if text.isEmpty {
            self = .none
        } else if let code = Int(text), text.utf8.count == 3, (100...999).contains(code) {
            self = .code(code)
        } else if text.utf8.count == 3, text.lowercased().hasSuffix("xx"), let digit = Int(text.prefix(1)),
            (1...5).contains(digit)
        {
            self = .group(digit)
        } else {
            return nil
        }
    }

    package func matches(_ status: Int?) -> Bool {
        switch self {
        case .none: status == nil
        case .code(let code): status == code
        case .group(let digit): status.map { $0 / 100 == digit } ?? false
        }
    }
}
