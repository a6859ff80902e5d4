import MartletStorage
import MartletTelemetry

/// The series of one service, as a query sees them.
struct ServiceSeries {
    struct Entry {
        let requests: RequestClass
        /// The index of its name: see ``name(_:)``.
        let name: Int
    }

    let service: String
    private let known: KnownSeries
    private let filter: RequestFilter
    private let selectsRequests: Bool
    private let selectsOutcomes: Bool
    /// Whether status, error or rule tell groups apart, so that each series has a name of its own.
    private let isByOutcome: Bool
    /// Whether the filter selects each of the known names; `nil` until it is asked for.
    private var isSelected: [Bool?]

    init(_ known: KnownSeries, of service: String, by dimensions: [Dimension], _ filter: RequestFilter) {
        (self.known, self.service, self.filter) = (known, service, filter)
        (selectsRequests, selectsOutcomes) = (filter.selectsRequests, filter.selectsOutcomes)
        isByOutcome = dimensions.contains(where: \.isOfOutcome)
        isSelected = Array(repeating: nil, count: known.names.count)
    }

    /// The number of names.
    var names: Int { isByOutcome ? known.count : known.names.count }

    /// Returns `nil` for a series that is not the service's, and `.some(nil)` for one that is left out.
    mutating func entry(of series: Int64) -> Entry?? {
        guard let place = known.place(of: series) else { return nil }
        guard let (requests, name) = known.entry(at: place), isSelected(place, name) else { return .some(nil) }
        return Entry(requests: requests, name: isByOutcome ? place : name)
    }

    /// Returns dimensions that have the query's values for all series of a name.
    func name(_ index: Int) -> RequestDimensions? { isByOutcome ? known.dimensions[index] : known.names[index] }

    private mutating func isSelected(_ place: Int, _ name: Int) -> Bool {
        guard selectsRequests else { return true }
        guard !selectsOutcomes else { return known.dimensions[place].map(filter.matches) ?? false }
        if let known = isSelected[name] { return known }
        let isSelected = filter.matches(known.names[name])
        self.isSelected[name] = isSelected
        return isSelected
    }
}

extension KnownSeries {
    /// Whether a filter selects one of the series.
    func contains(_ filter: RequestFilter) -> Bool {
        filter.selectsOutcomes
            ? dimensions.contains { $0.map(filter.matches) ?? false } : names.contains(where: filter.matches)
    }
}

extension Dimension {
    /// Whether the series of one endpoint differ in it.
    var isOfOutcome: Bool { [.status, .error, .rule].contains(self) }
}

extension RequestFilter {
    fileprivate var selectsOutcomes: Bool { wanted.keys.contains(where: \.isOfOutcome) }
}
