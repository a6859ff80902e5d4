import GRDB
import MartletStorage
import MartletTelemetry

/// Folds the old readings of ledgers into the hours of their versions, in steps: see ``FoldedReadings``. A reading goes in the same
/// transaction, and its sender's row keeps where the next one continues.
enum LedgerFolding {
    /// Returns the next senders with readings up to `end`, after the one with a number. A reader looks at all senders.
    static func senders(after sender: Int64, until end: Int64, in db: Database) throws -> [Int64] {
        try Int64.fetchAll(
            db.cachedStatement(
                sql: """
                    SELECT id FROM resource WHERE id > ?
                        AND EXISTS (SELECT 1 FROM ledger WHERE resource_id = resource.id AND time <= ?)
                    ORDER BY id LIMIT \(SQLiteLimits.foldedRows)
                    """), arguments: [sender, end])
    }

    /// Folds readings of senders up to `end`, at most ``SQLiteLimits/foldedRows``. Returns the senders that are left.
    static func step(_ senders: [Int64], until end: Int64, in db: Database) throws -> [Int64] {
        var room = SQLiteLimits.foldedRows
        for (index, sender) in senders.enumerated() {
            room -= try fold(sender, until: end, atMost: room, in: db)
            if room == 0 { return Array(senders[index...]) }
        }
        return []
    }

    /// Folds readings of a sender, and returns their number.
    private static func fold(
        _ sender: Int64, until end: Int64, atMost limit: Int, in db: Database
    ) throws -> Int {
        let found = try db.cachedStatement(sql: "SELECT * FROM resource WHERE id = ?")
        guard let row = try Row.fetchOne(found, arguments: [sender]) else { return 0 }
        let readings = try Row.fetchAll(
            db.cachedStatement(
                sql: "SELECT * FROM ledger WHERE resource_id = ? AND time <= ? ORDER BY time LIMIT ?"),
            arguments: [sender, end, limit])
        var fold = FoldedReadings(since: FoldedReadings.Reading(folded: row))
        let removal = try db.cachedStatement(sql: "DELETE FROM ledger WHERE resource_id = ? AND time = ?")
        for reading in readings {
            fold.add(FoldedReadings.Reading(reading), age: reading["age"], arrived: reading["requests"])
            try removal.execute(arguments: [sender, reading["time"] as Int64])
        }
        try write(fold, of: sender, VersionName(row), in: db)
        return readings.count
    }

    private static func write(_ fold: FoldedReadings, of sender: Int64, _ name: VersionName, in db: Database) throws {
        guard let last = fold.last else { return }
        for (end, hour) in fold.hours { try FoldedRows.add(hour, of: name, process: sender, end: end, in: db) }
        try db.cachedStatement(
            sql: "UPDATE resource SET folded_time = ?, folded_captured = ?, folded_unwatched = ? WHERE id = ?"
        ).execute(arguments: [last.time, last.captured, last.unwatched, sender])
    }
}

/// The part of a process in the hours of its version, from its readings in order of time. Pure.
///
/// Requests that are missing between two readings are spread evenly over the time between them, so that each window there misses
/// some.
struct FoldedReadings {
    struct Reading {
        var time: Int64
        var captured: Int64
        var unwatched: Int64
    }

    struct Hour: Equatable {
        /// 1 for a process, and 1 if it is the first of its hours.
        var (instances, new) = (0, 0)
        var (arrived, captured) = (0.0, 0.0)
        /// In nanoseconds.
        var (lived, unwatched) = (0.0, 0.0)
    }

    /// By the ends of the hours.
    private(set) var hours: [Int64: Hour] = [:]
    private(set) var last: Reading?
    /// The end of the latest hour that has the process.
    private var counted: Int64

    /// - Parameter reading: the last one that is folded already; `nil` if there is none.
    init(since reading: Reading?) {
        last = reading
        counted = reading.map { Tier.hour.slotEnd(of: $0.time) } ?? 0
    }

    /// - Parameters:
    ///   - age: the age of the process at the reading; 0 if unknown.
    ///   - arrived: the requests that arrived with the reading.
    mutating func add(_ reading: Reading, age: Int64, arrived: Int64) {
        let before = last ?? Reading(time: reading.time - min(max(age, 0), reading.time), captured: 0, unwatched: 0)
        let captured = Double(max(0, reading.captured - before.captured))
        let found = min(Double(max(0, arrived)), captured)
        let end = Tier.hour.slotEnd(of: reading.time)
        hours[end, default: Hour()].arrived += found
        hours[end, default: Hour()].captured += found
        spread(from: before, to: reading, missing: captured - found)
        // A batch that came late has an earlier account.
        last = reading.time < before.time ? before : reading
        if reading.captured < before.captured { last?.captured = before.captured }
    }

    private mutating func spread(from before: Reading, to reading: Reading, missing: Double) {
        let end = Tier.hour.slotEnd(of: reading.time)
        guard reading.time > before.time else {
            hours[end, default: Hour()].captured += missing
            return count(end)
        }
        let readings = [before, reading].map {
            WindowAccount.Reading(time: Double($0.time), unwatched: Double($0.unwatched))
        }
        var hour = max(Tier.hour.slotEnd(of: before.time + 1), end - Self.longest)
        while hour <= end {
            let window = TimeWindow(
                from: UInt64(clamping: hour - Tier.hour.length), to: UInt64(clamping: hour))
            let time = WindowAccount.Time(between: readings, in: window)
            hours[hour, default: Hour()].lived += time.lived
            hours[hour, default: Hour()].unwatched += time.unwatched
            hours[hour, default: Hour()].captured += missing * time.lived / Double(reading.time - before.time)
            count(hour)
            hour += Tier.hour.length
        }
    }

    /// Readings further apart than 400 days come from a wrong clock.
    private static let longest = 400 * 24 * Tier.hour.length

    private mutating func count(_ hour: Int64) {
        guard hour > counted else { return }
        hours[hour, default: Hour()].instances += 1
        if counted == 0 { hours[hour, default: Hour()].new += 1 }
        counted = hour
    }
}

extension FoldedReadings.Reading {
    fileprivate init(_ row: Row) {
        self.init(time: row["time"], captured: row["captured"], unwatched: row["unwatched"])
    }

    /// Returns `nil` if none of the sender's readings is folded.
    fileprivate init?(folded row: Row) {
        guard row["folded_time"] > 0 else { return nil }
        self.init(time: row["folded_time"], captured: row["folded_captured"], unwatched: row["folded_unwatched"])
    }
}

extension VersionName {
    /// - Parameter row: a row with the columns of a sender.
    init(_ row: Row) {
        self.init(service: row["service"], version: row["version"], environment: row["environment"])
    }
}

/// Deletes senders that are gone.
enum Departing {
    /// How long a sender is remembered, in nanoseconds: an agent keeps a batch for 21 days.
    private static let memory = 30 * 24 * Tier.hour.length

    /// Deletes senders whose last hour ended by `time`, as many as one step deletes. Returns whether more may be left.
    static func step(before time: Int64, at now: Int64, in db: Database) throws -> Bool {
        let hour = time / Tier.hour.length
        let rows = try Row.fetchAll(
            db.cachedStatement(
                sql: """
                    SELECT *, (SELECT min(max(end_time), max(received)) FROM cumulative_series
                            WHERE resource_id = resource.id) AS streams_until
                    FROM resource WHERE last_hour < ?
                        AND NOT EXISTS (SELECT 1 FROM ledger WHERE resource_id = resource.id)
                        AND NOT EXISTS (SELECT 1 FROM process_slot WHERE resource_id = resource.id)
                        AND NOT EXISTS (SELECT 1 FROM detail WHERE resource_id = resource.id)
                    ORDER BY last_hour LIMIT \(SQLiteLimits.foldedRows)
                    """), arguments: [hour])
        for row in rows {
            try DepartedRows.insert(row, at: now, in: db)
            try db.cachedStatement(sql: "DELETE FROM resource WHERE id = ?").execute(arguments: [row["id"] as Int64])
        }
        let forgotten = try db.delete(
            from: "departed", where: "time < ?", [now - memory], atMost: SQLiteLimits.deletedRows)
        return rows.count == SQLiteLimits.foldedRows || forgotten == SQLiteLimits.deletedRows
    }
}

/// The table of what was folded of senders that are gone. Without it, the next reading of one would be taken for all that it ever
/// captured.
enum DepartedRows {
    private static let columns = [
        "folded_time", "folded_captured", "folded_unwatched", "folded_figures", "forgotten_until",
    ]

    /// - Parameter row: the row of a sender, with the latest report of its cumulative streams, which go with it.
    fileprivate static func insert(_ row: Row, at now: Int64, in db: Database) throws {
        let streams: Int64 = row["streams_until"] ?? 0
        let values = columns.map { $0 == "forgotten_until" ? max(row[$0], streams) : row[$0] as Int64 }
        guard values.contains(where: { $0 > 0 }) else { return }
        let statement = try db.cachedStatement(
            sql:
                "INSERT OR REPLACE INTO departed (id, \(columns.joined(separator: ", ")), time) VALUES (?, ?, ?, ?, ?, ?, ?)"
        )
        try statement.execute(
            arguments: [Self.id(of: ResourceRows.decode(row))] + StatementArguments(values) + [now])
    }

    /// Gives the new row of a sender that came back what was folded of it.
    static func restore(_ sender: TelemetryResource, row: Int64, in db: Database) throws {
        let id = id(of: sender)
        let names = columns.map { "\($0) = departed.\($0)" }.joined(separator: ", ")
        try db.cachedStatement(
            sql: """
                UPDATE resource SET \(names) FROM departed WHERE departed.id = ?1 AND resource.id = ?2
                """
        ).execute(arguments: [id, row])
        if db.changesCount > 0 {
            try db.cachedStatement(sql: "DELETE FROM departed WHERE id = ?").execute(arguments: [id])
        }
    }

    private static func id(of sender: TelemetryResource) -> Int64 {
        let texts = SenderText.identity.map { $0.value(of: sender) ?? "" }
        return Int64(hashOf: Array(texts.joined(separator: "\0").utf8))
    }
}
