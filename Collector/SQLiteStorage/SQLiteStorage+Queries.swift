import GRDB
import MartletStorage
import MartletTelemetry

extension SQLiteStorage {
    package func statistics(
        _ queries: [StatisticsQuery]
    ) async throws -> [Result<StatisticsAnswer, TooManyGroups>] {
        try await read { [limits, knownSeries] db in
            var reading = StatisticsReader(queries, try ExpiredRows.times(in: db), limits, knownSeries)
            return try reading.answers(in: db)
        }
    }

    package func account(in window: TimeWindow, _ filter: RequestFilter) async throws -> WindowAccount {
        try await read { db in
            let counted = WindowRanges(window, expired: try ExpiredRows.times(in: db))
            return try Completeness.account(in: counted.window, filter, in: db)
        }
    }
}

/// The queries for kept spans.
extension SQLiteStorage {
    package func requests(_ query: RequestsQuery) async throws -> RequestsAnswer {
        try await read { db in
            let count = SQLRequest<Int>(literal: "SELECT count(*) FROM detail WHERE \(query.condition)")
            let page = try SQLRequest<Row>(literal: try query.page(in: db)).fetchAll(db)
            return RequestsAnswer(
                requests: try StoredSpans.decode(page.prefix(query.limit), in: db),
                count: try count.fetchOne(db) ?? 0, isThereMore: page.count > query.limit)
        }
    }

    package func request(_ id: String) async throws -> StoredSpan? {
        guard let row = DetailID(id)?.row else { return nil }
        return try await read { db in
            let rows = try Row.fetchAll(db, sql: "SELECT * FROM detail WHERE id = ?", arguments: [row])
            return try StoredSpans.decode(rows, in: db).first
        }
    }

    package func spans(ofTrace trace: TraceID, limit: Int) async throws -> TraceAnswer {
        try await read { db in
            let failed: SQL =
                "(is_error OR error != '') AND error != \(RequestOutcome.cancelledError)"
            let rows = try SQLRequest<Row>(
                literal: """
                    SELECT * FROM detail WHERE id IN (
                        SELECT id FROM detail WHERE trace_id = \(trace.blob)
                        ORDER BY \(failed) DESC, start_time, id LIMIT \(limit))
                    ORDER BY start_time, id
                    """
            ).fetchAll(db)
            let count = try Int.fetchOne(
                db, sql: "SELECT count(*) FROM detail WHERE trace_id = ?", arguments: [trace.blob])
            return TraceAnswer(
                spans: try StoredSpans.decode(rows, in: db), more: max(0, (count ?? 0) - limit))
        }
    }
}

/// Rows of `detail` with their senders.
private enum StoredSpans {
    static func decode(_ rows: some Sequence<Row>, in db: Database) throws -> [StoredSpan] {
        var resources: [Int64: TelemetryResource] = [:]
        return try rows.compactMap { row in
            let id: Int64 = row["resource_id"]
            let resource = try resources[id] ?? ResourceRows.find(id, in: db)
            resources[id] = resource
            guard let resource, let span = try DetailRows.decode(row) else { return nil }
            return StoredSpan(id: DetailID(row: row["id"]).description, resource: resource, span: span)
        }
    }
}

extension SQLiteStorage {
    package func values(_ query: ValuesQuery) async throws -> ValuesAnswer {
        try await read { db in
            let senders = try ValueSenders(query, in: db)
            let values = try query.dimension.isSenderAttribute ? senders.values : senders.requestValues(in: db)
            let sorted = values.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
            return ValuesAnswer(
                values: Array(sorted.prefix(query.limit)), isThereMore: sorted.count > query.limit)
        }
    }
}

/// The values of a dimension among the senders of a query, and among the versions of senders that are gone: those seen since the
/// window's start. A sender first seen after the window may have requests in it, which it kept while the collector was away.
private struct ValueSenders {
    private let query: ValuesQuery
    private let senders: [TelemetryResource]
    private let versions: [TelemetryResource]

    init(_ query: ValuesQuery, in db: Database) throws {
        self.query = query
        let rows = try SQLRequest<Row>(
            literal: """
                SELECT * FROM \(ResourceRows.since(Int64(clamping: query.window.from)))
                    AND \(query.filter.senderCondition) AND last_seen > \(Int64(clamping: query.window.from))
                """
        ).fetchAll(db)
        let from = Int64(clamping: query.window.from)
        let versions =
            query.filter.wanted[.instance] != nil
            ? []
            : try SQLRequest<Row>(
                literal: "SELECT * FROM \(VersionRows.since(from)) AND \(query.filter.senderCondition)"
            ).fetchAll(db)
        senders = rows.map(ResourceRows.decode)
        self.versions = versions.map(VersionRows.decode)
    }

    /// The values that the senders themselves decide. A version has no instance.
    var values: Set<String> {
        Set((query.dimension == .instance ? senders : senders + versions).compactMap { query.dimension.value(of: $0) })
    }

    /// Returns the values in the requests of the senders' services, whose series they share. Series are kept by day.
    func requestValues(in db: Database) throws -> Set<String> {
        let day = Int64(dayOf: Int64(clamping: query.window.from))
        return try Set((senders + versions).map(\.service)).reduce(into: []) { values, service in
            let rows = try Row.fetchCursor(
                db, sql: "SELECT * FROM series WHERE service = ? AND day >= ?", arguments: [service, day])
            while let row = try rows.next() {
                guard let dimensions = SeriesRows.decode(row), query.filter.matches(dimensions),
                    let value = query.dimension.value(of: dimensions)
                else { continue }
                values.insert(value)
            }
        }
    }
}

extension SQLiteStorage {
    /// Reads the rows of the senders of that time, and the ledgers of those in the answer. 400,000 rows take 0.1 s.
    package func agents(
        seenSince time: UnixNanoseconds, _ filter: RequestFilter, limit: Int
    ) async throws -> AgentsAnswer {
        let since = Int64(clamping: time)
        let selected: SQL = "FROM \(ResourceRows.since(since)) AND last_seen >= \(since) AND \(filter.senderCondition)"
        return try await pool.read { db in
            let rows = try SQLRequest<Row>(
                literal: "SELECT * \(selected) ORDER BY last_seen DESC, id DESC LIMIT \(limit)"
            ).fetchAll(db)
            let count =
                try rows.count < limit ? nil : SQLRequest<Int>(literal: "SELECT count(*) \(selected)").fetchOne(db)
            return AgentsAnswer(
                agents: try rows.map { try Self.agent(of: $0, in: db) }, more: (count ?? rows.count) - rows.count)
        }
    }

    private static func agent(of row: Row, in db: Database) throws -> AgentRecord {
        let stream = try BatchStream.find(instance: row["instance"], .metrics, in: db)
        return AgentRecord(
            resource: ResourceRows.decode(row), firstSeen: row.unsigned("first_seen"),
            lastSeen: row.unsigned("last_seen"), latestEnd: row.unsigned("last_end"),
            ledger: try LedgerRows.latest(of: row["id"], in: db),
            gaps: stream?.sequences.gaps,
            statistics: try StatisticsCoverRows.sources(of: row["id"], in: db),
            process: try latestProcess(of: row["id"], in: db),
            isShared: try CumulativeRows.isShared(row["id"], in: db))
    }
}

extension SQLiteStorage {
    package func processes(_ query: ProcessQuery) async throws -> ProcessAnswer {
        try await read { [limits] db in
            let expired = try ExpiredRows.times(in: db)
            let window = WindowRanges(query.window, expired: expired).window
            let grid = SlotGrid(window, step: query.step, expired: expired)
            return try Self.sums(query.filter, in: grid, limits, in: db).answer
        }
    }

    package func histories(in window: TimeWindow, _ filter: RequestFilter) async throws -> [SenderHistory] {
        try await read { try SenderHistoryRows.find(in: window, filter, in: $0) }
    }

    private static func sums(
        _ filter: RequestFilter, in grid: SlotGrid, _ limits: SQLiteLimits, in db: Database
    ) throws -> ProcessSums {
        // A slot may be longer than the window.
        let tier = Tier(ofSlots: min(grid.step, max(grid.window.length, grid.finest)))
        let from = Int64(clamping: grid.window.from)
        let (end, isPastAllTime) = Int64(clamping: grid.window.to).addingReportingOverflow(tier.length)
        let to = isPastAllTime ? .max : end
        // CROSS JOIN fixes the order of the tables, so SQLite searches for each sender.
        let rows = try SQLRequest<Row>(
            literal: """
                SELECT resource.*, resource.id AS sender, p.*
                FROM (SELECT * FROM \(ResourceRows.since(from)) AND \(filter.senderCondition)) AS resource
                CROSS JOIN process_slot p ON p.resource_id = resource.id AND p.tier = \(tier.rawValue)
                    AND p.end_time > \(from) AND p.end_time < \(to)
                WHERE resource.last_end > \(from)
                ORDER BY resource.id, p.end_time
                """
        ).fetchCursor(db)
        var sums = ProcessSums(grid, maxSlots: limits.maxGroups)
        var current: (id: Int64, process: ProcessSums.Process)?
        while let row = try rows.next() {
            let id: Int64 = row["sender"]
            if current?.id != id {
                if let done = current?.process { try sums.add(done) }
                current = (
                    id,
                    ProcessSums.Process(
                        ResourceRows.decode(row), firstSeen: row.unsigned("first_seen"),
                        foldedUntil: row.unsigned("folded_figures"))
                )
            }
            guard let statistics = ProcessRows.decode(row) else { continue }
            current?.process.add(
                statistics, to: grid.index(of: min(row.unsigned("end_time"), grid.window.to)),
                from: row.unsigned("from_time"), to: row.unsigned("to_time"))
        }
        if let done = current?.process { try sums.add(done) }
        if tier == .hour { try FoldedRows.add(to: &sums, filter, in: grid, db) }
        return sums
    }

    package func processEnds(
        in window: TimeWindow, _ filter: RequestFilter, limit: Int
    ) async throws -> [StoredEnd] {
        try await read { try ProcessEndRows.find(in: window, filter, limit: limit, in: $0) }
    }

    /// Returns the figures of the last minute that a sender reported; `nil` if the finest resolution has none.
    static func latestProcess(of resource: Int64, in db: Database) throws -> ProcessStatistics? {
        let rows = try Row.fetchAll(
            db.cachedStatement(
                sql: """
                    SELECT * FROM process_slot WHERE resource_id = ? AND tier = \(Tier.fine.rawValue)
                    ORDER BY end_time DESC LIMIT \(Tier.minute.length / Tier.fine.length)
                    """), arguments: [resource])
        guard let last: Int64 = rows.first?["end_time"] else { return nil }
        return rows.filter { $0["end_time"] > last - Tier.minute.length }.compactMap(ProcessRows.decode)
            .reduce(into: ProcessStatistics()) { $0.merge($1) }
    }
}

extension Tier {
    /// The coarsest tier whose slots fit into slots of this length.
    fileprivate init(ofSlots length: UInt64) {
        self = [.hour, .minute].first { length % UInt64($0.length) == 0 } ?? .fine
    }
}

/// The calls between services: those that kept spans show, and remembered calls of deleted spans.
extension SQLiteStorage {
    package func calls(
        in window: TimeWindow, _ filter: RequestFilter, limit: Int
    ) async throws -> Set<ObservedCall> {
        try await read { db in
            try ObservedCalls.find(in: window, filter, limit: limit, in: db)
                .union(ObservedCallRows.find(in: window, filter, limit: limit, in: db))
        }
    }

    /// Remembers the calls of spans that arrived since the last time. The span of a caller may arrive after that of its callee. The
    /// first call after a start looks at all kept spans.
    func rememberCalls() async throws {
        while true {
            let before = rememberedSpan.load(ordering: .relaxed)
            guard let found = try await pool.read({ try CallSightings(after: before, in: $0) }) else { return }
            if !found.calls.isEmpty {
                try await write { [limit = limits.maxObservedCalls] db in
                    try ObservedCallRows.add(found.calls, atMost: limit, in: db)
                }
            }
            rememberedSpan.store(found.last, ordering: .relaxed)
            try Task.checkCancellation()
        }
    }
}

extension SQLiteStorage {
    package func notified(_ key: NotificationKey) async throws -> NotifiedState? {
        try await read { try NotificationRows.state(of: key, in: $0) }
    }

    package func setNotified(_ key: NotificationKey, _ state: NotifiedState) async throws {
        let time = Int64(clamping: now())
        try await write { try NotificationRows.set(state, of: key, at: time, in: $0) }
    }
}
