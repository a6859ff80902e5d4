import MartletStorage

/// The name of a query's parameter, which is also the name of a command's flag.
package protocol ParameterName: RawRepresentable<String>, CaseIterable, Hashable, Sendable where AllCases == [Self] {
    /// The parameters for the ends of the query's window, if it has them.
    static var times: [Self] { get }
    /// The dimensions that the query can filter by. A filter has the name of its dimension.
    static var filters: [Dimension] { get }
    /// All other names.
    static var others: [Self] { get }
    /// Whether the parameter may be repeated.
    var isRepeatable: Bool { get }
    /// Whether a command accepts the flag without a value.
    var isSwitch: Bool { get }

    /// Creates a name that is known to exist. For a text from outside, use `init(rawValue:)`.
    init(known text: String)
}

extension ParameterName {
    package static var allCases: [Self] { times + filters.map { Self(known: $0.rawValue) } + others }

    /// Returns `nil` if the query has no such parameter.
    package init?(rawValue: String) {
        guard let name = Self.allCases.first(where: { $0.rawValue == rawValue }) else { return nil }
        self = name
    }

    /// Returns the name of a filter. Throws if the query cannot filter by the dimension.
    static func filter(_ dimension: Dimension) throws(ParameterError) -> Self {
        guard filters.contains(dimension) else {
            let names = Parameters<Self>.list(filters.map(\.rawValue))
            throw ParameterError("\(dimension.rawValue) is no filter here; the filters are \(names)")
        }
        return Self(known: dimension.rawValue)
    }

    /// The dimension that the parameter filters by; `nil` if it is not a filter.
    package var filteredDimension: Dimension? {
        Dimension(rawValue: rawValue).flatMap { Self.filters.contains($0) ? $0 : nil }
    }

    package var isRepeatable: Bool { filteredDimension != nil }

    package var isSwitch: Bool { false }
}

/// The names of the parameters of a query with a time window.
package protocol WindowParameterName: ParameterName {}

extension WindowParameterName {
    package static var since: Self { Self(known: "since") }
    package static var until: Self { Self(known: "until") }
    package static var times: [Self] { [since, until] }

    package static var defaultSince: String { "1h" }
}

/// The names of the parameters of a query about requests, which can filter by every dimension.
package protocol RequestParameterName: WindowParameterName {}

extension RequestParameterName {
    package static var filters: [Dimension] { Dimension.allCases }

    package init(_ dimension: Dimension) { self.init(known: dimension.rawValue) }

    // The filters that code refers to by name.
    package static var service: Self { Self(.service) }
    package static var environment: Self { Self(.environment) }
    package static var kind: Self { Self(.kind) }
    package static var system: Self { Self(.system) }
    package static var method: Self { Self(.method) }
    package static var host: Self { Self(.host) }
    package static var endpoint: Self { Self(.endpoint) }
    package static var status: Self { Self(.status) }
    package static var error: Self { Self(.error) }
    package static var version: Self { Self(.version) }
    package static var instance: Self { Self(.instance) }
}
