import GRDB
import MartletStorage
import MartletTelemetry

/// Finds the group of a query that counts a sender's series. Senders that the query does not distinguish form one class. So the
/// series of a service are looked up once, not for each of its processes.
struct TargetLookup {
    /// The number of a class of senders, from ``senderClass(of:in:)``. Classes of one service are adjacent in the order.
    struct SenderClass: Comparable, Hashable {
        fileprivate var service: Int
        fileprivate var index: Int

        static func < (one: SenderClass, other: SenderClass) -> Bool {
            (one.service, one.index) < (other.service, other.index)
        }
    }

    private let dimensions: [Dimension]
    private let filter: RequestFilter
    private let memory: TransactionSeries
    /// One sender of each class, and whether it is a version, which has no instance.
    private var classes: [(sender: TelemetryResource, isVersion: Bool)] = []
    /// The class of each owner of chunks; `nil` for those that the filter leaves out.
    private var classOfOwner: [ChunkOwner: SenderClass?] = [:]
    private var services: [String: Int] = [:]
    private var classOfValues: [[String?]: SenderClass] = [:]
    /// The class requested last. Chunks of one class are read one after the other.
    private var current: Int?
    /// The series of the current class's service.
    private var series: ServiceSeries?
    /// Whether the filter selects a series of the service, for each service seen so far.
    private var counting: [String: Bool] = [:]
    /// The group of each of the series' names; `nil` until it is requested, and `.some(nil)` if it is left out.
    private var groups: [Int??] = []

    /// - Parameter dimensions: the dimensions to group by.
    init(by dimensions: [Dimension], _ filter: RequestFilter, _ memory: TransactionSeries) {
        self.dimensions = dimensions
        self.filter = filter
        self.memory = memory
    }

    /// Returns `nil` if the query leaves out this sender or version.
    mutating func senderClass(of owner: ChunkOwner, in db: Database) throws -> SenderClass? {
        if let known = classOfOwner[owner] { return known }
        let found =
            switch owner {
            case .sender(let id): try ResourceRows.find(id, in: db).flatMap { try senderClass(of: $0, false, in: db) }
            case .version(let id): try VersionRows.find(id, in: db).flatMap { try senderClass(of: $0, true, in: db) }
            }
        classOfOwner[owner] = .some(found)
        return found
    }

    /// Returns the group in `index` that counts the series' requests; `nil` if the filter leaves out the series, or if it has been
    /// deleted.
    mutating func target(
        ofSeries wanted: Int64, sender: SenderClass, in index: inout GroupIndex, _ db: Database
    ) throws -> SeriesTarget? {
        try goToSeries(of: sender, in: db)
        if let entry = series?.entry(of: wanted) {
            guard let entry, let group = try group(ofName: entry.name, sender, in: &index) else { return nil }
            return SeriesTarget(group: group, requests: entry.requests)
        }
        // Swift treats some names with different bytes as equal. SQLite does not.
        guard let dimensions = try SeriesRows.find(wanted, in: db), filter.matches(dimensions) else { return nil }
        return try index.index(of: values(of: dimensions, sender))
            .map { SeriesTarget(group: $0, requests: RequestClass(dimensions)) }
    }

    /// Returns the group of the current series with a name; `nil` if it is left out.
    private mutating func group(ofName name: Int, _ sender: SenderClass, in index: inout GroupIndex) throws -> Int? {
        if let known = groups[name] { return known }
        guard let dimensions = series?.name(name) else { return nil }
        let group = try index.index(of: values(of: dimensions, sender))
        groups[name] = .some(group)
        return group
    }

    /// Makes the series of a class's service the current series.
    private mutating func goToSeries(of sender: SenderClass, in db: Database) throws {
        if series != nil, current == sender.index { return }
        let service = classes[sender.index].sender.service
        if series?.service != service {
            series = ServiceSeries(try memory.series(of: service, in: db), of: service, by: dimensions, filter)
        }
        (current, groups) = (sender.index, Array(repeating: nil, count: series?.names ?? 0))
    }

    /// Whether the filter selects requests of a service. The points of other services need not be read.
    private mutating func counts(_ service: String, in db: Database) throws -> Bool {
        guard filter.selectsRequests else { return true }
        if let known = counting[service] { return known }
        let found = try memory.series(of: service, in: db).contains(filter)
        counting[service] = found
        return found
    }

    private func values(of request: RequestDimensions, _ sender: SenderClass) -> [String?] {
        let (resource, isVersion) = classes[sender.index]
        return dimensions.map { isVersion && $0 == .instance ? nil : $0.value(of: request, from: resource) }
    }

    private mutating func senderClass(
        of resource: TelemetryResource, _ isVersion: Bool, in db: Database
    ) throws -> SenderClass? {
        guard filter.matches(resource), try counts(resource.service, in: db) else { return nil }
        let values =
            [resource.service]
            + dimensions.map { isVersion && $0 == .instance ? nil : $0.value(of: resource) }
        if let known = classOfValues[values] { return known }
        let service = services[resource.service] ?? services.count
        services[resource.service] = service
        let sender = SenderClass(service: service, index: classes.count)
        classOfValues[values] = sender
        classes.append((resource, isVersion))
        return sender
    }
}

/// The series of one service, as a query uses them.
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
    /// Whether groups depend on status, error or rule, so that each series has a separate name.
    private let isByOutcome: Bool
    /// Whether the filter selects each of the known names; `nil` until it is requested.
    private var isSelected: [Bool?]

    init(_ known: KnownSeries, of service: String, by dimensions: [Dimension], _ filter: RequestFilter) {
        (self.known, self.service, self.filter) = (known, service, filter)
        (selectsRequests, selectsOutcomes) = (filter.selectsRequests, filter.selectsOutcomes)
        isByOutcome = dimensions.contains(where: \.isOutcome)
        isSelected = Array(repeating: nil, count: known.names.count)
    }

    /// The number of names.
    var names: Int { isByOutcome ? known.count : known.names.count }

    /// Returns `nil` for a series of another service, and `.some(nil)` for a series that is left out.
    mutating func entry(of series: Int64) -> Entry?? {
        guard let place = known.place(of: series) else { return nil }
        guard let (requests, name) = known.entry(at: place), isSelected(place, name) else { return .some(nil) }
        return Entry(requests: requests, name: isByOutcome ? place : name)
    }

    /// Returns dimensions that have the values of all series with a name, as far as the query groups by them.
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
    /// Whether a filter selects at least one of the series.
    func contains(_ filter: RequestFilter) -> Bool {
        filter.selectsOutcomes
            ? dimensions.contains { $0.map(filter.matches) ?? false } : names.contains(where: filter.matches)
    }
}

extension RequestFilter {
    fileprivate var selectsOutcomes: Bool { wanted.keys.contains(where: \.isOutcome) }
}
