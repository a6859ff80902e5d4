import GRDB
import MartletStorage
import MartletTelemetry
import Synchronization

/// The table of series: the dimensions that distinguish the requests of one service. Senders of a service share its series, so new
/// processes add none.
enum SeriesRows {
    /// The columns of dimensions.
    private static let names = columns.map(\.name)
    static let list = names.joined(separator: ", ")
    private static let finding =
        "SELECT id, day FROM series WHERE service = ? AND \(names.map { "\($0) = ?" }.joined(separator: " AND "))"
    private static let inserting =
        "INSERT INTO series (service, \(list), day) VALUES (\(Database.marks(names.count + 2)))"

    static func find(_ dimensions: RequestDimensions, service: String, in db: Database) throws -> Row? {
        try Row.fetchOne(db.cachedStatement(sql: finding), arguments: [service] + arguments(dimensions))
    }

    static func insert(
        _ dimensions: RequestDimensions, service: String, day: Int64, in db: Database
    ) throws -> Int64 {
        try db.cachedStatement(sql: inserting).execute(arguments: [service] + arguments(dimensions) + [day])
        return db.lastInsertedRowID
    }

    private static func arguments(_ dimensions: RequestDimensions) -> StatementArguments {
        StatementArguments(columns.map { $0.value(dimensions) })
    }

    static func update(_ id: Int64, day: Int64, in db: Database) throws {
        try db.cachedStatement(sql: "UPDATE series SET day = ? WHERE id = ?").execute(arguments: [day, id])
    }

    /// Returns the number of series with points on this day or later.
    static func count(ofService service: String, since day: Int64, in db: Database) throws -> Int {
        let statement = try db.cachedStatement(sql: "SELECT count(*) FROM series WHERE service = ? AND day >= ?")
        return try Int.fetchOne(statement, arguments: [service, day]) ?? 0
    }

    /// The columns of the dimensions, in a fixed order. The values are empty for `nil`.
    static let columns: [NamedColumn<RequestDimensions?>] = [
        NamedColumn<RequestDimensions?>("kind") { $0.map { text(of: $0.kind, $0.source) } ?? "" },
        NamedColumn<RequestDimensions?>("system") { $0?.system ?? "" },
        NamedColumn<RequestDimensions?>("method") { $0?.method ?? "" },
        NamedColumn<RequestDimensions?>("host") { $0?.host ?? "" },
        NamedColumn<RequestDimensions?>("port") { $0?.port ?? 0 },
        NamedColumn<RequestDimensions?>("endpoint") { $0?.endpoint ?? "" },
        NamedColumn<RequestDimensions?>("status") { $0?.status ?? 0 },
        NamedColumn<RequestDimensions?>("error") { $0?.error ?? "" },
        NamedColumn<RequestDimensions?>("rule") { $0?.rule ?? "" },
    ]

    /// `client`, or `client spans` for requests that only spans reported.
    private static func text(of kind: RequestKind, _ source: StatisticsSource) -> String {
        source == .metrics ? kind.rawValue : "\(kind.rawValue) \(source.rawValue)"
    }

    /// Returns all values of the column `kind` that mean the kind with this name.
    static func kinds(named name: String) -> [String] {
        RequestKind(rawValue: name).map { [text(of: $0, .metrics), text(of: $0, .spans)] } ?? []
    }

    /// Returns `nil` for a deleted series.
    static func find(_ id: Int64, in db: Database) throws -> RequestDimensions? {
        let statement = try db.cachedStatement(sql: "SELECT * FROM series WHERE id = ?")
        return try Row.fetchOne(statement, arguments: [id]).flatMap(decode)
    }

    /// Returns the number of a service's newest series; `nil` if it has none.
    static func latest(ofService service: String, in db: Database) throws -> Int64? {
        let statement = try db.cachedStatement(sql: "SELECT max(id) FROM series WHERE service = ?")
        return try Int64.fetchOne(statement, arguments: [service])
    }

    /// Returns all series of a service. They are read in one query; reading each one when needed would take five times as long.
    static func all(ofService service: String, latest: Int64?, in db: Database) throws -> KnownSeries {
        // The index over these columns contains them all, in their order.
        let statement = try db.cachedStatement(sql: "SELECT id, \(list) FROM series WHERE service = ?")
        let rows = try Row.fetchCursor(statement, arguments: [service])
        var series = KnownSeries(latest: latest)
        while let row = try rows.next() {
            let dimensions = dimensions(
                kind: row[1], system: row[2], method: row[3], host: row[4], port: row[5], endpoint: row[6],
                status: row[7], error: row[8], rule: row[9])
            series.append(row[0], dimensions)
        }
        series.sort()
        return series
    }

    /// Reads the columns by their names. Returns `nil` for an unknown kind.
    static func decode(_ row: Row) -> RequestDimensions? {
        dimensions(
            kind: row["kind"], system: row["system"], method: row["method"], host: row["host"], port: row["port"],
            endpoint: row["endpoint"], status: row["status"], error: row["error"], rule: row["rule"])
    }

    /// Returns the dimensions from the values of ``columns``; `nil` for an unknown kind.
    static func dimensions(
        kind text: String, system: String, method: String, host: String, port: Int, endpoint: String, status: Int,
        error: String, rule: String
    ) -> RequestDimensions? {
        guard let (kind, source) = kind(of: text) else { return nil }
        var dimensions = RequestDimensions(
            kind: kind, method: method, host: host, port: port, endpoint: endpoint, status: status == 0 ? nil : status,
            error: error.isEmpty ? nil : error)
        dimensions.system = system.isEmpty ? nil : system
        dimensions.source = source
        dimensions.rule = rule.isEmpty ? nil : rule
        return dimensions
    }

    private static func kind(of text: String) -> (RequestKind, StatisticsSource)? {
        if let kind = RequestKind(rawValue: text) { return (kind, .metrics) }
        let words = text.split(separator: " ")
        guard words.count == 2, let kind = RequestKind(rawValue: String(words[0])),
            let source = StatisticsSource(rawValue: String(words[1]))
        else { return nil }
        return (kind, source)
    }
}

extension Int64 {
    /// Creates the day of a time, in days since 1970. A series stores only the latest day on which a point ended, so its row is
    /// written once a day and not with each point.
    init(dayOf time: Int64) { self = time / (24 * Tier.hour.length) }
}

/// The index of a store's writer. Its lock is always free, because only one transaction at a time is written.
final class WriterSeries: Sendable {
    private let index: Mutex<SeriesIndex>

    init(maxSeriesOfService: Int) {
        index = Mutex(SeriesIndex(maxSeriesOfService: maxSeriesOfService))
    }

    func withLock<Value: Sendable>(_ body: (inout SeriesIndex) throws -> Value) rethrows -> Value {
        try index.withLock { index in try body(&index) }
    }
}

/// The writer's cache of each series' row. It includes rows of the current transaction, so it must be emptied when that is rolled
/// back.
struct SeriesIndex {
    /// The largest number of series, about 20 MB. Past it the index is emptied, and rows are read again when needed.
    static let maxSeries = 50_000

    private struct Entry {
        var id: Int64
        var day: Int64
    }

    private struct Service {
        var entries: [SharedDimensions: Entry] = [:]
        /// The number of series with points on ``since`` or later. Only these count against the budget, so the room that a
        /// flood of names takes is free again a day after the flood ends.
        var live: Int
        /// The day before the one on which ``live`` was counted.
        var since: Int64
    }

    private let maxSeriesOfService: Int
    private var services: [String: Service] = [:]
    private var count = 0

    init(maxSeriesOfService: Int) {
        self.maxSeriesOfService = maxSeriesOfService
    }

    mutating func removeAll() {
        services = [:]
        count = 0
    }

    /// Returns the id of the series that counts each point. A series gets its row with its first point.
    ///
    /// - Parameter now: the collector's clock.
    mutating func ids(
        of points: [RequestPoint], service: String, at now: UnixNanoseconds, in db: Database
    ) throws -> [Int64] {
        // Without points the entry would have no series, so no limit would apply to it.
        guard !points.isEmpty else { return [] }
        if count >= Self.maxSeries { removeAll() }
        let yesterday = Int64(dayOf: Int64(clamping: now)) - 1
        // The entry leaves the dictionary, so that it is changed in place and not copied.
        var known = services.removeValue(forKey: service) ?? Service(live: 0, since: .min)
        if known.since != yesterday {
            known.live = try SeriesRows.count(ofService: service, since: yesterday, in: db)
            known.since = yesterday
        }
        let before = known.entries.count
        defer {
            count += known.entries.count - before
            services[service] = known
        }
        // The loop uses indexes, because a copy of a point costs more than the look-up.
        return try points.indices.map { index in
            let series = points[index].series
            let day = Int64(dayOf: Int64(clamping: points[index].end))
            if let entry = known.entries[series], entry.day >= day { return entry.id }
            let entry = try findOrMake(series.value, service: service, day: day, in: db, counting: &known)
            known.entries[series] = entry
            return entry.id
        }
    }

    private func findOrMake(
        _ dimensions: RequestDimensions, service: String, day: Int64, in db: Database, counting known: inout Service
    ) throws -> Entry {
        for candidate in SeriesBudget.candidates(for: dimensions, limit: maxSeriesOfService) {
            if let row = try SeriesRows.find(candidate.dimensions, service: service, in: db) {
                let found = Entry(id: row[0], day: row[1])
                guard found.day < day else { return found }
                try SeriesRows.update(found.id, day: day, in: db)
                if found.day < known.since, day >= known.since { known.live += 1 }
                return Entry(id: found.id, day: day)
            }
            guard known.live < candidate.limit else { continue }
            known.live += 1
            let id = try SeriesRows.insert(candidate.dimensions, service: service, day: day, in: db)
            return Entry(id: id, day: day)
        }
        throw DatabaseError(message: "no series is left for a request")
    }
}

/// The series of each service that a reader has read, so that most reports read no names. A row never changes its names, and its
/// number is never reused. So the cached series of a service are complete while the newest number is the same.
final class SeriesMemory: Sendable {
    /// The largest number of series, about 125 MB: those of 5,000 services with 10 endpoints and 5 outcomes each. Past it the
    /// cache is emptied, and rows are read again when needed.
    static let maxSeries = 250_000

    private struct Known: Sendable {
        var services: [String: KnownSeries] = [:]
        var count = 0
    }

    private let known = Mutex(Known())
    private let maxSeries: Int

    init(maxSeries: Int = SeriesMemory.maxSeries) { self.maxSeries = maxSeries }

    /// The number of cached series.
    var count: Int { known.withLock { $0.count } }

    /// Returns the series of a service. Reads the store if new series were created since the last read.
    ///
    /// - Parameter isRemembered: whether to cache series that were read. Maintenance goes through all services, and would empty the
    ///   cache of reports.
    func series(of service: String, isRemembered: Bool = true, in db: Database) throws -> KnownSeries {
        let latest = try SeriesRows.latest(ofService: service, in: db)
        if let known = known.withLock({ $0.services[service] }), known.latest == latest { return known }
        let read = try SeriesRows.all(ofService: service, latest: latest, in: db)
        if isRemembered { remember(read, as: service) }
        return read
    }

    private func remember(_ service: KnownSeries, as name: String) {
        known.withLock { known in
            known.count += service.count - (known.services[name]?.count ?? 0)
            if known.count > maxSeries {
                known = Known()
                known.count = service.count
            }
            known.services[name] = service
        }
    }
}

/// The series of each service that one transaction has looked up. A transaction looks them up for each of its queries and each
/// slice of chunks, and they cannot change meanwhile. For one thread.
final class TransactionSeries {
    private let memory: SeriesMemory
    private var known: [String: KnownSeries] = [:]
    private var count = 0

    init(_ memory: SeriesMemory) { self.memory = memory }

    /// Returns the series of a service.
    func series(of service: String, in db: Database) throws -> KnownSeries {
        if let known = known[service] { return known }
        let found = try memory.series(of: service, in: db)
        if count > SeriesMemory.maxSeries { (known, count) = ([:], 0) }
        known[service] = found
        count += found.count
        return found
    }
}

/// A reader's cache of the series of one service. It computes only once what every query needs of a series.
struct KnownSeries: Sendable {
    /// The number of the newest series; `nil` if there is none.
    let latest: Int64?
    /// The dimensions other than status, error and rule. Most queries group only by these, and most series share them with the
    /// previous series.
    private(set) var names: [RequestDimensions] = []
    /// The dimensions of each series; `nil` if this version cannot read them.
    private(set) var dimensions: [RequestDimensions?] = []
    private var classes: [RequestClass?] = []
    private var nameIndexes: [Int] = []
    /// The numbers of the series in ascending order, each with its index in the arrays above.
    private var places: [(id: Int64, place: Int)] = []

    init(latest: Int64?) {
        self.latest = latest
    }

    var count: Int { dimensions.count }

    mutating func append(_ id: Int64, _ dimensions: RequestDimensions?) {
        places.append((id, count))
        self.dimensions.append(dimensions)
        classes.append(dimensions.map(RequestClass.init))
        nameIndexes.append(dimensions.map { nameIndex(of: $0) } ?? 0)
    }

    /// Sorts the series once all are added. Look-ups need this.
    mutating func sort() { places.sort { $0.id < $1.id } }

    /// Returns the index of a series; `nil` if it does not belong to the service.
    func place(of id: Int64) -> Int? {
        let index = places.sortedIndex { $0.id < id }
        return index < places.count && places[index].id == id ? places[index].place : nil
    }

    /// Returns the class of the series at an index, and the index of its name; `nil` if this version cannot read the series.
    func entry(at place: Int) -> (requests: RequestClass, name: Int)? {
        classes[place].map { ($0, nameIndexes[place]) }
    }

    private mutating func nameIndex(of dimensions: RequestDimensions) -> Int {
        var name = dimensions
        (name.status, name.error, name.rule) = (nil, nil, nil)
        if names.isEmpty || names[names.count - 1] != name { names.append(name) }
        return names.count - 1
    }
}

extension Dimension {
    /// Whether series with the same name may differ in this dimension (``KnownSeries/names``).
    var isOutcome: Bool { [.status, .error, .rule].contains(self) }
}

extension Array {
    /// Returns the index of the first element of a sorted array that is not before the wanted place.
    @inline(__always) func sortedIndex(_ isBefore: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if isBefore(self[middle]) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
