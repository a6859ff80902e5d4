import MartletReports
import MartletStorage
import MartletTelemetry

/// A parsed request for a view.
package struct PageRequest: Sendable {
    /// The views in the order of their links.
    package enum View: String, CaseIterable, Sendable {
        case overview = "Overview"
        case requests = "Requests"
        case map = "Map"
        case agents = "Agents"

        var title: String { rawValue }

        var address: PageAddress {
            switch self {
            case .overview: .overview
            case .requests: .requests
            case .map: .map
            case .agents: .agents
            }
        }
    }

    /// The view's address without parameters.
    let base: PageAddress
    let parameters: PageParameters
    package let now: UnixNanoseconds
    /// Whether the visitor is signed in, and so can sign out.
    package var isSignedIn = false
    /// Whether the visitor may delete the kept requests.
    package var mayClear = true
    /// The flags that a command needs to query this collector; empty if it needs none.
    package var collectorFlags: [CommandFlag] = []
    /// The address under which the visitor reached this collector.
    package var collectorAddress = CollectorAddress.usual
    package let window: TimeWindow
    package let filter: RequestFilter
    /// The number of kept requests and spans that were just deleted; `nil` on any other request. Only one page shows it, because no
    /// address passes it on.
    let cleared: UInt64?

    /// - Parameters:
    ///   - base: the view's address without parameters.
    ///   - pairs: the parameters of the query. An empty filter selects requests without a value, unless the field of a form was
    ///     left empty (``PageParameter/emptyFields``). Other empty parameters are ignored.
    package init(
        _ base: PageAddress, _ pairs: [(String, String)], now: UnixNanoseconds
    ) throws(ParameterError) {
        self.base = base
        self.now = now
        let fields = Set(pairs.filter { $0.0 == PageParameter.emptyFields }.map(\.1))
        let given = try PageParameters(
            pairs.compactMap { name, value in
                guard name != PageParameter.emptyFields else { return nil }
                if fields.contains(name), value == PageParameter.noValue { return (name, "") }
                let selectsNone = Dimension(rawValue: name) != nil && !fields.contains(name)
                return value.isEmpty && !selectsNone ? nil : (name, value)
            })
        parameters = try PageParameters(given.query.filter { $0.0 != PageParameter.cleared.rawValue })
        cleared = try given.cleared()
        window = try parameters.window(now: now)
        filter = try parameters.filter()
    }

    /// The view's address with all its parameters.
    package var here: PageAddress {
        parameters.values.reduce(base) { $0.adding($1.name, $1.value) }
    }

    /// Returns the address of another view, with the same window and senders.
    func address(of view: View) -> PageAddress { scoped(view.address) }

    /// Returns an address with this view's window and senders.
    func scoped(_ address: PageAddress) -> PageAddress {
        parameters.values.filter { PageParameter.scope.contains($0.name) }.reduce(address) {
            $0.adding($1.name, $1.value)
        }
    }

    /// Whether the page refreshes itself. A window in the past does not change.
    var isLive: Bool { parameters[.until] == nil && parameters[.refresh] != "off" }

    /// The same parameters for a report or a list of requests, as far as it supports them.
    func parameters<Name: ParameterName>(
        for type: Name.Type, leavingOut names: Set<PageParameter> = []
    ) -> Parameters<Name> {
        var result = Parameters<Name>()
        for (name, value) in parameters.values where !names.contains(name) {
            if let name = Name(rawValue: name.rawValue) { result.add(name, value) }
        }
        return result
    }
}

extension PageParameters {
    fileprivate func cleared() throws(ParameterError) -> UInt64? {
        guard let text = self[.cleared] else { return nil }
        guard let number = UInt64(text) else { throw ParameterError("cleared must be a number of requests") }
        return number
    }
}

/// The names of the parameters of views. A name that a report or a list of requests also has means the same there.
struct PageParameter: RequestParameterName {
    static let compare = Self(known: "compare")
    static let sort = Self(known: "sort")
    static let ascending = Self(known: "ascending")
    static let top = Self(known: "top")
    static let failed = Self(known: "failed")
    static let slowerThan = Self(known: "slower-than")
    static let fasterThan = Self(known: "faster-than")
    static let search = Self(known: "search")
    static let before = Self(known: "before")
    static let limit = Self(known: "limit")
    /// `on` for the live tail of the requests.
    static let live = Self(known: "live")
    /// The number of kept requests and spans that were just deleted.
    static let cleared = Self(known: "cleared")
    /// `off` stops the page from refreshing itself.
    static let refresh = Self(known: "refresh")
    /// `all` shows each span of a trace on a separate line.
    static let spans = Self(known: "spans")

    static let others = [
        compare, sort, ascending, top, failed, slowerThan, fasterThan, search, before, limit, live, cleared, refresh,
        spans,
    ]

    let rawValue: String

    init(known text: String) { rawValue = text }

    /// The name of the parameters in which a form lists its fields that select everything if they are empty. In an address, an
    /// empty value selects requests without one.
    static let emptyFields = "any"
    /// The value of such a field that selects requests without one.
    static let noValue = "(none)"

    /// The parameters that a view passes on to the next: the window and the chosen senders.
    static let scope: [PageParameter] = [.since, .until, .environment, .service, .refresh]
}

/// The parameters of a view.
typealias PageParameters = Parameters<PageParameter>

/// A condition that a person can remove from a view.
struct RequestListFilter: Sendable, Equatable {
    let name: PageParameter
    let value: String

    /// The condition as a name and a value. A switch needs only its name.
    var words: (name: String, value: String) {
        switch name {
        case .failed: ("failed", "")
        case .slowerThan: ("slower than", Self.length(value))
        case .fasterThan: ("faster than", Self.length(value))
        case .search: ("with the text", value)
        case .kind: value == "client" ? ("outgoing", "") : ("incoming", "")
        default: value.isEmpty ? ("without \(name.rawValue)", "") : (name.rawValue, value)
        }
    }

    /// Returns a duration as it was given. One in nanoseconds, as in a heat map's link, becomes milliseconds.
    private static func length(_ value: String) -> String {
        guard value.hasSuffix("ns"), let length = TimeText.nanoseconds(value) else { return value }
        return "\(FigureText.bound(Double(length) / 1e6)) ms"
    }

    var text: String { words.value.isEmpty ? words.name : "\(words.name) \(words.value)" }

    /// Returns the first page of the view without the condition.
    func address(without pageRequest: PageRequest) -> PageAddress {
        others(of: pageRequest.parameters).reduce(pageRequest.base) { $0.adding($1.name, $1.value) }
    }

    /// Returns the parameters without the condition and without the position in the list.
    func others(of parameters: PageParameters) -> [(name: PageParameter, value: String)] {
        parameters.values.filter { ($0.name != name || $0.value != value) && $0.name != .before }
    }
}
