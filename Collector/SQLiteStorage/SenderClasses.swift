import GRDB
import MartletStorage
import MartletTelemetry

/// Where a sender's series are counted. Senders that the query does not tell apart are one class, so that the series of a
/// service are looked up once and not for each of its processes.
struct SenderClasses {
    /// One that ``sender(ofResource:in:)`` returned. Those of one service stand beside each other.
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
    /// `nil` for senders that the filter leaves out.
    private var classOfResource: [Int64: Sender?] = [:]
    private var services: [String: Int] = [:]
    private var classOfValues: [[String?]: Sender] = [:]
    /// The class that was asked for last, for chunks of one are read one after the other.
    private var current: Int?
    /// Of its service.
    private var series: ServiceSeries?
    /// Of each of their names, where it was asked for.
    private var groups: [Int?] = []

    init(_ query: StatisticsQuery) {
        self.query = query
    }

    /// `nil` when the query is not about this sender.
    mutating func sender(ofResource id: Int64, in db: Database) throws -> Sender? {
        if let known = classOfResource[id] { return known }
        let found = try ResourceRows.find(id, in: db).flatMap { sender(of: $0) }
        classOfResource[id] = .some(found)
        return found
    }

    /// `nil` for a series that was not asked for yet.
    mutating func place(ofSeries series: Int64, sender: Sender) -> SeriesPlace?? {
        classes[sender.index].places.find(series)
    }

    mutating func remember(_ place: SeriesPlace?, ofSeries series: Int64, sender: Sender) {
        classes[sender.index].places.insert(place, of: series)
    }

    /// Where in `index` its requests are counted; `nil` for a series that the filter leaves out, or that has been deleted.
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
        // Names that Swift takes for the same may be spelled in other bytes, which SQLite tells apart.
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
    /// What of it the sender alone decides; `nil` where that is nothing.
    fileprivate func value(of resource: TelemetryResource) -> String? {
        switch self {
        case .version: resource.version
        case .instance: resource.instance
        case .service, .kind, .method, .host, .endpoint, .status, .error: nil
        }
    }
}
