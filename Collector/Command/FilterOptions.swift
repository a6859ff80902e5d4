import ArgumentParser
import MartletReports
import MartletStorage
import MartletTelemetry

/// Flags that filter by dimensions. A filter given twice selects either value.
protocol FilterOptions: ParsableArguments {
    /// The values of each flag.
    var given: [Dimension: [String]] { get }
}

extension FilterOptions {
    /// The given values, in the order of the dimensions.
    var filters: [FilterValue] {
        let given = given
        return Dimension.allCases.flatMap { dimension in (given[dimension] ?? []).map { (dimension, $0) } }
    }
}

/// The filters that all commands with filters share. The help of a flag depends on what the command lists.
struct ServiceFilters<Listed: FilteredThing>: FilterOptions {
    @Option(.service, of: Listed.self) var service: [String] = []
    @Option(.environment, of: Listed.self) var environment: [String] = []

    var given: [Dimension: [String]] { [.service: service, .environment: environment] }
}

/// The filters by dimensions that describe the sender.
struct SenderFilters<Listed: FilteredThing>: FilterOptions {
    @OptionGroup var services: ServiceFilters<Listed>
    @Option(.version, of: Listed.self) var version: [String] = []
    @Option(.instance, of: Listed.self) var instance: [String] = []

    var given: [Dimension: [String]] {
        services.given.merging([.version: version, .instance: instance]) { $1 }
    }
}

/// The filters of a command about requests: one for every dimension.
struct RequestFilters: FilterOptions {
    @OptionGroup var senders: SenderFilters<FilteredRequests>
    @Option(.kind, of: FilteredRequests.self) var kind: [String] = []
    @Option(.system, of: FilteredRequests.self) var system: [String] = []
    @Option(.method, of: FilteredRequests.self) var method: [String] = []
    @Option(.host, of: FilteredRequests.self) var host: [String] = []
    @Option(.endpoint, of: FilteredRequests.self) var endpoint: [String] = []
    @Option(.status, of: FilteredRequests.self) var status: [String] = []
    @Option(.error, of: FilteredRequests.self) var error: [String] = []
    @Option(.rule, of: FilteredRequests.self) var rule: [String] = []

    var given: [Dimension: [String]] {
        senders.given.merging([
            .kind: kind, .system: system, .method: method, .host: host, .endpoint: endpoint, .status: status,
            .error: error, .rule: rule,
        ]) { $1 }
    }
}

/// The filters by dimensions that findings name.
struct FindingFilters: FilterOptions {
    @OptionGroup var senders: SenderFilters<FilteredFindings>
    @Option(.method, of: FilteredFindings.self) var method: [String] = []
    @Option(.host, of: FilteredFindings.self) var host: [String] = []
    @Option(.endpoint, of: FilteredFindings.self) var endpoint: [String] = []

    var given: [Dimension: [String]] {
        senders.given.merging([.method: method, .host: host, .endpoint: endpoint]) { $1 }
    }
}

extension Option where Value == [String] {
    /// Creates the flag that filters by a dimension.
    fileprivate init(wrappedValue: [String], _ dimension: Dimension, of listed: (some FilteredThing).Type) {
        let values = dimension.values == .kinds ? RequestKind.allCases.map(\.rawValue) : []
        self.init(
            wrappedValue: wrappedValue, name: .customLong(dimension.rawValue),
            help: ArgumentHelp(listed.help(of: dimension)), completion: values.isEmpty ? nil : .list(values))
    }
}

/// The things that filters select.
protocol FilteredThing: Sendable {
    /// Returns the help of the flag that filters by a dimension.
    static func help(of dimension: Dimension) -> String
}

enum FilteredRequests: FilteredThing {
    static func help(of dimension: Dimension) -> String { dimension.help }
}

enum FilteredFindings: FilteredThing {
    static func help(of dimension: Dimension) -> String {
        dimension.help.replacing("Only requests", with: "Only findings about requests")
    }
}

enum FilteredInstances: FilteredThing {
    static func help(of dimension: Dimension) -> String {
        dimension == .instance ? "Only this instance." : dimension.help.replacing("requests", with: "instances")
    }
}

enum FilteredEdges: FilteredThing {
    static func help(of dimension: Dimension) -> String {
        switch dimension {
        case .service: "Only edges that begin or end at this service."
        case .environment:
            "Only services in this environment, such as production. Other ends of their edges are hosts."
        default: dimension.help
        }
    }
}
