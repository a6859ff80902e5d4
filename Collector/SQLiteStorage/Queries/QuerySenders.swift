import GRDB
import MartletStorage
import MartletTelemetry

/// The senders of a query in classes. Senders that the query does not tell apart are one class, so the series of a service
/// are looked up once instead of for each of its processes.
struct SenderClasses {
    /// A class of senders, from ``sender(ofResource:in:)``. The order keeps the classes of one service together.
    struct Sender: Comparable {
        fileprivate var service: Int
        fileprivate var index: Int

        static func < (one: Sender, other: Sender) -> Bool {
            (one.service, one.index) < (other.service, other.index)
        }
    }

    private struct Class {
        let resource: TelemetryResource
        var places = SeriesPlaces()
    }

    private let query: StatisticsQuery
    private var classes: [Class] = []
    /// The class of each resource; `nil` for senders that the filter leaves out.
    private var classOfResource: [Int64: Sender?] = [:]
    private var services: [String: Int] = [:]
    private var classOfValues: [[String?]: Sender] = [:]
    /// The class that was asked for last: chunks of one class are read one after the other.
    private var current: Int?
    /// The series of the current class's service.
    private var series: ServiceSeries?
    /// The group of each of the series' names; `nil` until it is asked for.
    private var groups: [Int?] = []

    init(_ query: StatisticsQuery) {
        self.query = query
    }

    /// Returns `nil` if the query leaves out this sender.
    mutating func sender(ofResource id: Int64, in db: Database) throws -> Sender? {
        if let known = classOfResource[id] { return known }
        let found = try ResourceRows.find(id, in: db).flatMap { sender(of: $0) }
        classOfResource[id] = .some(found)
        return found
    }

    /// Returns `nil` for a series that was not asked for yet, and `.some(nil)` for one that is left out.
    mutating func place(ofSeries series: Int64, sender: Sender) -> SeriesPlace?? {
        classes[sender.index].places.find(series)
    }

    mutating func remember(_ place: SeriesPlace?, ofSeries series: Int64, sender: Sender) {
        classes[sender.index].places.insert(place, of: series)
    }

    /// Returns the group in `index` that counts the series' requests; `nil` if the filter leaves the series out or it has
    /// been deleted.
    mutating func readPlace(
        ofSeries series: Int64, sender: Sender, in index: inout GroupIndex, _ db: Database
    ) throws -> SeriesPlace? {
        let ofService = try seriesOfService(of: sender, in: db)
        if let entry = ofService[series] {
            guard let entry else { return nil }
            let group = try groups[entry.name] ?? index.place(of: values(of: ofService.names[entry.name], sender))
            groups[entry.name] = group
            return SeriesPlace(group: group, requests: entry.requests)
        }
        // Swift takes some names for equal that have different bytes, which SQLite tells apart.
        guard let dimensions = try SeriesRows.find(series, in: db),
            query.filter.matches(dimensions, from: classes[sender.index].resource)
        else { return nil }
        return SeriesPlace(
            group: try index.place(of: values(of: dimensions, sender)), requests: RequestClass(dimensions))
    }

    private mutating func seriesOfService(of sender: Sender, in db: Database) throws -> ServiceSeries {
        if let series, current == sender.index { return series }
        let resource = classes[sender.index].resource
        let known = series.flatMap { $0.service == resource.service ? $0 : nil }
        let read = try known ?? ServiceSeries(of: resource, query, in: db)
        (current, series, groups) = (sender.index, read, Array(repeating: nil, count: read.names.count))
        return read
    }

    private func values(of dimensions: RequestDimensions, _ sender: Sender) -> [String?] {
        query.by.map { $0.value(of: dimensions, from: classes[sender.index].resource) }
    }

    private mutating func sender(of resource: TelemetryResource) -> Sender? {
        guard query.filter.service == nil || query.filter.service == resource.service else { return nil }
        let values = [resource.service] + query.by.map { $0.value(of: resource) }
        if let known = classOfValues[values] { return known }
        let service = services[resource.service] ?? services.count
        services[resource.service] = service
        let sender = Sender(service: service, index: classes.count)
        classOfValues[values] = sender
        classes.append(Class(resource: resource))
        return sender
    }
}

extension Dimension {
    /// The dimension's value if the sender alone decides it, otherwise `nil`.
    fileprivate func value(of resource: TelemetryResource) -> String? {
        switch self {
        case .version: resource.version
        case .instance: resource.instance
        case .service, .kind, .method, .host, .endpoint, .status, .error: nil
        }
    }
}
