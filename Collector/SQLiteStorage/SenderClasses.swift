import GRDB
import MartletStorage
import MartletTelemetry

/// Which group of a query a sender's series belongs to. Senders that the query does not tell apart are one class, so that
/// the series of a service are looked up once and not for each of its processes.
struct SenderClasses {
    /// In place of a group's index, for series that the filter leaves out.
    static let noGroup = -1

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
        var groups = SeriesGroups()
    }

    private let query: StatisticsQuery
    private var classes: [Class] = []
    /// `nil` for senders that the filter leaves out.
    private var classOfResource: [Int64: Sender?] = [:]
    private var services: [String: Int] = [:]
    private var classOfValues: [[String?]: Sender] = [:]
    /// Of the service that was asked for last.
    private var series: ServiceSeries?

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

    mutating func group(ofSeries series: Int64, sender: Sender) -> Int? {
        classes[sender.index].groups.find(series)
    }

    mutating func remember(_ group: Int, ofSeries series: Int64, sender: Sender) {
        classes[sender.index].groups.insert(group, of: series)
    }

    /// `nil` for a series that the filter leaves out, or that has been deleted.
    mutating func readGroup(ofSeries series: Int64, sender: Sender, in db: Database) throws -> RequestGroup? {
        let resource = classes[sender.index].resource
        // Names that Swift takes for the same may be spelled in other bytes, which SQLite tells apart.
        let known = try seriesOfService(resource.service, in: db)[series]
        guard let dimensions = try known ?? SeriesRows.find(series, in: db),
            query.filter.matches(dimensions, from: resource)
        else { return nil }
        return RequestGroup(
            values: query.by.map { $0.value(of: dimensions, from: resource) }, kind: dimensions.kind,
            outcome: dimensions.outcome, source: dimensions.source)
    }

    /// Chunks of one service are read one after the other, so that one is enough.
    private mutating func seriesOfService(_ service: String, in db: Database) throws -> ServiceSeries {
        if let known = series, known.service == service { return known }
        let read = try ServiceSeries(of: service, in: db)
        series = read
        return read
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
