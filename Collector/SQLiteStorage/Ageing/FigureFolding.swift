import Foundation
import GRDB
import MartletStorage
import MartletTelemetry

/// Folds the old figures of processes into the hours of their versions, in steps: see ``FoldedFigures``.
enum FigureFolding {
    /// Folds hours up to `end`, at most ``SQLiteLimits/foldedRows``. Returns whether more may be left.
    static func step(until end: Int64, in db: Database) throws -> Bool {
        let rows = try Row.fetchAll(
            db.cachedStatement(
                sql: """
                    SELECT r.*, p.end_time AS end_time, p.from_time AS from_time, p.to_time AS to_time,
                        p.figures AS figures
                    FROM process_slot p JOIN resource r ON r.id = p.resource_id
                    WHERE p.tier = \(Tier.hour.rawValue) AND p.end_time <= ?
                    ORDER BY p.end_time LIMIT \(SQLiteLimits.foldedRows)
                    """), arguments: [end])
        // The row of a sender was read before an earlier one of its hours was folded.
        var latest: [Int64: Int64] = [:]
        for row in rows {
            let id: Int64 = row["id"]
            let before = latest[id] ?? row["folded_figures"]
            try fold(row, isNew: before == 0, isCounted: before >= row["end_time"], in: db)
            latest[id] = max(before, row["end_time"])
        }
        for (id, end) in latest {
            try db.cachedStatement(sql: "UPDATE resource SET folded_figures = ? WHERE id = ?").execute(arguments: [
                end, id,
            ])
        }
        return rows.count == SQLiteLimits.foldedRows
    }

    private static func fold(_ row: Row, isNew: Bool, isCounted: Bool, in db: Database) throws {
        let (name, end): (VersionName, Int64) = (VersionName(row), row["end_time"])
        if let statistics = ProcessRows.decode(row) {
            let slot = TimeWindow(from: UInt64(clamping: end - Tier.hour.length), to: UInt64(clamping: end))
            var process = ProcessSums.Process(ResourceRows.decode(row), firstSeen: row.unsigned("first_seen"))
            process.add(statistics, to: 0, from: row.unsigned("from_time"), to: row.unsigned("to_time"))
            var figures = process.folded(in: slot)
            (figures.processes, figures.new) = (isCounted ? 0 : 1, isNew ? 1 : 0)
            try FoldedRows.add(figures, of: name, end: end, in: db)
            // The hour of its start may have no figures of it.
            if isNew, let start = Int64(exactly: process.start) {
                var started = FoldedFigures()
                started.started = 1
                try FoldedRows.add(started, of: name, end: Tier.hour.slotEnd(of: start), in: db)
            }
            try FoldedRows.note(runtime: row["runtime"], of: name, end: end, in: db)
        }
        try db.cachedStatement(sql: "DELETE FROM process_slot WHERE resource_id = ? AND tier = ? AND end_time = ?")
            .execute(arguments: [row["id"] as Int64, Tier.hour.rawValue, end])
    }
}

/// The tables of what is left of the processes of versions.
enum FoldedRows {
    // MARK: Adding

    static func add(
        _ hour: FoldedReadings.Hour, of name: VersionName, process: Int64, end: Int64, in db: Database
    ) throws {
        let version = try VersionRows.id(of: name, until: end, in: db)
        let statement = try db.cachedStatement(
            sql: """
                INSERT INTO version_hour (version_id, end_time, instances, new_instances, arrived, captured, lived,
                    unwatched, processes, new_processes, started, from_time, to_time, figures, levels)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0, 0, 0, 0, 0, x'', '')
                ON CONFLICT DO UPDATE SET instances = instances + excluded.instances,
                    new_instances = new_instances + excluded.new_instances, arrived = arrived + excluded.arrived,
                    captured = captured + excluded.captured, lived = lived + excluded.lived,
                    unwatched = unwatched + excluded.unwatched
                """)
        try statement.execute(arguments: [
            version, end, hour.instances, hour.new, hour.arrived, hour.captured, hour.lived, hour.unwatched,
        ])
        guard hour.unwatched > 0 else { return }
        try db.cachedStatement(
            sql: """
                INSERT INTO version_gap (version_id, end_time, process, unwatched) VALUES (?, ?, ?, ?)
                ON CONFLICT DO UPDATE SET unwatched = unwatched + excluded.unwatched
                """
        ).execute(arguments: [version, end, process, hour.unwatched])
    }

    static func add(_ figures: FoldedFigures, of name: VersionName, end: Int64, in db: Database) throws {
        let version = try VersionRows.id(of: name, until: end, in: db)
        var sum = figures
        let known = try db.cachedStatement(sql: "SELECT * FROM version_hour WHERE version_id = ? AND end_time = ?")
        if let row = try Row.fetchOne(known, arguments: [version, end]) { sum.merge(FoldedFigures(row)) }
        let statement = try db.cachedStatement(
            sql: """
                INSERT INTO version_hour (version_id, end_time, instances, new_instances, arrived, captured, lived,
                    unwatched, processes, new_processes, started, from_time, to_time, figures, levels)
                VALUES (?, ?, 0, 0, 0, 0, 0, 0, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT DO UPDATE SET processes = excluded.processes, new_processes = excluded.new_processes,
                    started = excluded.started, from_time = excluded.from_time, to_time = excluded.to_time,
                    figures = excluded.figures, levels = excluded.levels
                """)
        try statement.execute(arguments: [
            version, end, sum.processes, sum.new, sum.started, Int64(clamping: sum.from), Int64(clamping: sum.to),
            Data(ProcessBlob.encode(sum.total)), FoldedLevels(sum).text,
        ])
    }

    static func note(runtime: String, of name: VersionName, end: Int64, in db: Database) throws {
        let version = try VersionRows.id(of: name, until: end, in: db)
        try db.cachedStatement(
            sql: """
                INSERT INTO version_runtime (version_id, runtime, first_end, last_end) VALUES (?1, ?2, ?3, ?3)
                ON CONFLICT DO UPDATE SET first_end = min(first_end, ?3), last_end = max(last_end, ?3)
                """
        ).execute(arguments: [version, runtime, end])
    }

    // MARK: Reading

    /// Adds the hours in a window of the versions that the filter selects to an account. Returns the time without capture of each
    /// process, by its number, and its service.
    static func add(
        to account: inout WindowAccount, _ filter: RequestFilter, in db: Database
    ) throws -> [Int64: (service: String, unwatched: Double)] {
        guard filter.wanted[.instance] == nil else { return [:] }
        let window = account.window
        let rows = try Row.fetchCursor(db, hours("h.*", "version_hour", in: window, filter))
        var versions: Set<Int64> = []
        while let row = try rows.next() {
            let isFirst = versions.insert(row["version_id"]).inserted
            account.add(
                instances: isFirst ? row["instances"] : row["new_instances"], arrived: row["arrived"],
                captured: row["captured"], time: .init(lived: row["lived"], unwatched: row["unwatched"]),
                of: row["service"])
        }
        let gaps = try Row.fetchCursor(db, hours("h.process, h.unwatched", "version_gap", in: window, filter))
        var found: [Int64: (service: String, unwatched: Double)] = [:]
        while let row = try gaps.next() {
            found[row["process"], default: (row["service"], 0)].unwatched += row["unwatched"] as Double
        }
        return found
    }

    /// Adds the figures in a grid's window of the versions that the filter selects.
    static func add(to sums: inout ProcessSums, _ filter: RequestFilter, in grid: SlotGrid, _ db: Database) throws {
        guard filter.wanted[.instance] == nil else { return }
        let rows = try Row.fetchCursor(
            db, hours("h.*", "version_hour", in: grid.window, filter, and: "h.processes + h.started > 0"))
        var version: (id: Int64, figures: ProcessSums.Version)?
        while let row = try rows.next() {
            let id: Int64 = row["version_id"]
            if version?.id != id {
                if let done = version?.figures { try sums.add(done) }
                version = (id, ProcessSums.Version(service: row["service"], try runtimes(of: id, in: grid.window, db)))
            }
            version?.figures.add(FoldedFigures(row), to: grid.index(of: row.unsigned("end_time")))
        }
        if let done = version?.figures { try sums.add(done) }
    }

    private static func runtimes(of version: Int64, in window: TimeWindow, _ db: Database) throws -> Set<String?> {
        let statement = try db.cachedStatement(
            sql: "SELECT runtime FROM version_runtime WHERE version_id = ? AND first_end <= ? AND last_end > ?")
        let found = try String.fetchAll(
            statement, arguments: [version, Int64(clamping: window.to), Int64(clamping: window.from)])
        return Set(found.map { $0.isEmpty ? nil : $0 })
    }

    /// Returns the statement for rows of the hours in a window, in order of version and time.
    private static func hours(
        _ columns: String, _ table: String, in window: TimeWindow, _ filter: RequestFilter, and more: SQL = "TRUE"
    ) -> SQLRequest<Row> {
        let (from, to) = (Int64(clamping: window.from), Int64(clamping: window.to))
        return SQLRequest(
            literal: """
                SELECT versions.service AS service, h.version_id AS version_id, \(sql: columns)
                FROM (SELECT * FROM \(VersionRows.since(from)) AND \(filter.senderCondition)) AS versions
                CROSS JOIN \(sql: table) h ON h.version_id = versions.id AND h.end_time > \(from) AND h.end_time <= \(to)
                WHERE \(more) ORDER BY h.version_id, h.end_time
                """)
    }

    // MARK: Deleting

    /// Deletes hours, at most ``SQLiteLimits/deletedRows`` of each table. Returns the largest number deleted of one table.
    static func delete(until end: Int64, in db: Database) throws -> Int {
        let hours = try db.delete(
            from: "version_hour", by: "version_id, end_time", where: "end_time <= ? ORDER BY end_time", [end],
            atMost: SQLiteLimits.deletedRows)
        let gaps = try db.delete(
            from: "version_gap", by: "version_id, end_time, process", where: "end_time <= ? ORDER BY end_time", [end],
            atMost: SQLiteLimits.deletedRows)
        return max(hours, gaps)
    }
}

extension FoldedFigures {
    fileprivate init(_ row: Row) {
        self.init()
        (processes, new, started) = (row["processes"], row["new_processes"], row["started"])
        (from, to) = (row.unsigned("from_time"), row.unsigned("to_time"))
        if let figures = ProcessRows.decode(row) { total = figures }
        FoldedLevels(text: row["levels"]).add(to: &self)
    }
}

/// The levels and rates of ``FoldedFigures`` as JSON, by the raw values of their gauges and counters.
private struct FoldedLevels: Codable {
    var gauges: [String: Double] = [:]
    var counters: [String: Double] = [:]

    init(_ figures: FoldedFigures) {
        for (gauge, level) in figures.levels { gauges["\(gauge.rawValue)"] = level }
        for (counter, rate) in figures.rates { counters["\(counter.rawValue)"] = rate }
    }

    init(text: String) {
        guard let known = try? JSONDecoder().decode(Self.self, from: Data(text.utf8)) else { return }
        self = known
    }

    var text: String { (try? JSONEncoder().encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "" }

    func add(to figures: inout FoldedFigures) {
        for gauge in ProcessGauge.allCases {
            if let level = gauges["\(gauge.rawValue)"] { figures.levels[gauge, default: 0] += level }
        }
        for counter in ProcessCounter.allCases {
            if let rate = counters["\(counter.rawValue)"] { figures.rates[counter, default: 0] += rate }
        }
    }
}
