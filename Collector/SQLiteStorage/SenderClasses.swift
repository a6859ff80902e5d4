import GRDB
import MartletStorage
import MartletTelemetry

/// Which group of a query a sender's series belongs to. Senders that the query does not tell apart are one class, so that
/// the series of a service are looked up once and not for each of its processes.
struct SenderClasses {
    /// In place of a group's index, for series that the filter leaves out.
    static let noGroup = -1

    private struct Class {
        let resource: TelemetryResource
        var groups = SeriesGroups()
    }

    private let query: StatisticsQuery
    private var classes: [Class] = []
    /// `nil` for senders that the filter leaves out.
    private var classOfResource: [Int64: Int?] = [:]
    private var classOfValues: [[String?]: Int] = [:]

    init(_ query: StatisticsQuery) {
        self.query = query
    }

    /// `nil` when the query is not about this sender.
    mutating func index(ofResource id: Int64, in db: Database) throws -> Int? {
        if let known = classOfResource[id] { return known }
        let found = try ResourceRows.find(id, in: db).flatMap { classIndex(of: $0) }
        classOfResource[id] = .some(found)
        return found
    }

    mutating func group(ofSeries series: Int64, sender: Int) -> Int? {
        classes[sender].groups.find(series)
    }

    mutating func remember(_ group: Int, ofSeries series: Int64, sender: Int) {
        classes[sender].groups.insert(group, of: series)
    }

    /// `nil` for a series that the filter leaves out, or that has been deleted.
    func readGroup(ofSeries series: Int64, sender: Int, in db: Database) throws -> RequestGroup? {
        let resource = classes[sender].resource
        let statement = try db.cachedStatement(sql: "SELECT * FROM series WHERE id = ?")
        guard let row = try Row.fetchOne(statement, arguments: [series]), let dimensions = SeriesRows.decode(row),
            query.filter.matches(dimensions, from: resource)
        else { return nil }
        return RequestGroup(
            values: query.by.map { $0.value(of: dimensions, from: resource) }, kind: dimensions.kind,
            outcome: dimensions.outcome, source: dimensions.source)
    }

    private mutating func classIndex(of resource: TelemetryResource) -> Int? {
        guard query.filter.service == nil || query.filter.service == resource.service else { return nil }
        let values = [resource.service] + query.by.map { $0.value(of: resource) }
        if let known = classOfValues[values] { return known }
        classOfValues[values] = classes.count
        classes.append(Class(resource: resource))
        return classes.count - 1
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
