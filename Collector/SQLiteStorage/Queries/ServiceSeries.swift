import GRDB
import MartletStorage
import MartletTelemetry

/// The series of one service, as a query sees them.
struct ServiceSeries {
    struct Entry {
        let requests: RequestClass
        /// The index of its name in ``names``.
        let name: Int
    }

    let service: String
    /// The dimensions that tell groups apart, without status, error and rule unless the query asks for them. Most series then
    /// have the same name as the one before.
    private(set) var names: [RequestDimensions] = []
    /// The entry of each series; `nil` for a series that the filter leaves out.
    private var entries: [Int64: Entry?] = [:]

    init(
        _ series: [SeriesMemory.Series], of service: String, by dimensions: [Dimension], _ filter: RequestFilter
    ) {
        self.service = service
        entries.reserveCapacity(series.count)
        let (byStatus, byError) = (dimensions.contains(.status), dimensions.contains(.error))
        let byRule = dimensions.contains(.rule)
        for one in series {
            guard var dimensions = one.dimensions, filter.matches(dimensions) else {
                entries[one.id] = .some(nil)
                continue
            }
            let requests = RequestClass(dimensions)
            if !byStatus { dimensions.status = nil }
            if !byError { dimensions.error = nil }
            if !byRule { dimensions.rule = nil }
            entries[one.id] = Entry(requests: requests, name: nameIndex(of: dimensions))
        }
    }

    /// `nil` for a series that is not the service's, and `.some(nil)` for one that is left out.
    subscript(series: Int64) -> Entry?? { entries[series] }

    private mutating func nameIndex(of name: RequestDimensions) -> Int {
        if names.isEmpty || names[names.count - 1] != name { names.append(name) }
        return names.count - 1
    }
}
