import Foundation
import GRDB
import MartletPoints
import MartletStorage
import MartletTelemetry

extension CopiedSender {
    /// Senders of a part at most, and the rows of theirs after which it ends.
    private static let (maxSenders, maxRows) = (100, 20_000)

    /// - Parameter expired: the times up to which the figures of processes are wanted by the minute and by the hour.
    static func part(after number: Int64, _ expired: ExpiredTimes, in db: Database) throws -> CopiedPart? {
        let rows = try Row.fetchCursor(
            db, sql: "SELECT * FROM resource WHERE id > ? ORDER BY id LIMIT \(maxSenders)", arguments: [number])
        var (found, count, last) = ([CopiedSender](), 0, Int64?.none)
        while count < maxRows, let row = try rows.next() {
            last = row["id"]
            let sender = try CopiedSender(of: row, expired, in: db)
            count += sender.readings.count + sender.process.count + sender.streams.count
            found.append(sender)
        }
        return last.map { CopiedPart(.senders(found), last: $0) }
    }

    private init(of row: Row, _ expired: ExpiredTimes, in db: Database) throws {
        let (first, last, end): (Int64, Int64, Int64) = (row["first_seen"], row["last_seen"], row["last_end"])
        self.init(
            ResourceRows.decode(row), firstSeen: UInt64(clamping: first), lastSeen: UInt64(clamping: last),
            latestEnd: UInt64(clamping: end))
        let id: Int64 = row["id"]
        reported = try StatisticsCoverRows.reported(by: id, in: db)
        readings = try LedgerRows.all(of: id, in: db)
        process = try ProcessRows.points(of: id, expired, in: db)
        processTotals = try ProcessRows.totals(of: id, in: db)
        streams = try CumulativeRows.latestPoints(of: id, in: db)
    }
}

extension StatisticsCoverRows {
    fileprivate static func reported(by resource: Int64, in db: Database) throws -> [CopiedSender.Reported] {
        try Row.fetchAll(
            db, sql: "SELECT DISTINCT kind, source FROM statistics_cover WHERE resource_id = ?", arguments: [resource]
        ).compactMap { row in
            guard let kind = RequestKind(rawValue: row["kind"]), let source = StatisticsSource(rawValue: row["source"])
            else { return nil }
            return (kind, source)
        }
    }
}

extension ProcessRows {
    /// Returns the figures of a process as fine as they are wanted, each once.
    fileprivate static func points(
        of resource: Int64, _ expired: ExpiredTimes, in db: Database
    ) throws -> [ProcessPoint] {
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT * FROM process_slot WHERE resource_id = ?1
                    AND (tier = ?2 AND end_time > ?3 OR tier = ?4 AND end_time > ?5 AND end_time <= ?3
                        OR tier = ?6 AND end_time <= ?5)
                """,
            arguments: [
                resource, Tier.fine.rawValue, expired.fine, Tier.minute.rawValue, expired.minutes, Tier.hour.rawValue,
            ])
        return rows.compactMap { row in
            let (from, to): (Int64, Int64) = (row["from_time"], row["to_time"])
            return decode(row).map {
                ProcessPoint(start: UInt64(clamping: from), end: UInt64(clamping: to), statistics: $0)
            }
        }
    }

    fileprivate static func totals(of resource: Int64, in db: Database) throws -> [ProcessTotal] {
        try Row.fetchAll(db, sql: "SELECT * FROM process_total WHERE resource_id = ?", arguments: [resource])
            .compactMap { row in
                let (start, end, value): (Int64, Int64, Int64) = (row["start_time"], row["end_time"], row["value"])
                return ProcessCounter(rawValue: row["counter"]).map {
                    ProcessTotal(
                        $0, start: UInt64(clamping: start), end: UInt64(clamping: end), value: UInt64(clamping: value))
                }
            }
    }
}

extension CumulativeRows {
    /// Returns the latest point of each stream of a sender, by the arrival of its process's latest one. A process with a damaged
    /// stream is left out as a whole: a stream that is missing alone would look new.
    fileprivate static func latestPoints(
        of resource: Int64, in db: Database
    ) throws -> [CopiedSender.LatestPoint] {
        let dimensions = SharedDimensions(
            RequestDimensions(kind: .client, method: "", host: "", port: 0, endpoint: "", status: nil, error: nil))
        let rows = try Row.fetchCursor(
            db, sql: "SELECT * FROM cumulative_series WHERE resource_id = ?", arguments: [resource])
        var processes: [Int64: (points: [CumulativePoint], arrival: Int64, isDamaged: Bool)] = [:]
        while let row = try rows.next() {
            let (start, received, stream): (Int64, Int64, Data) = (row["start_time"], row["received"], row["stream"])
            var process = processes.removeValue(forKey: start) ?? ([], 0, false)
            process.arrival = max(process.arrival, received)
            if let latest = latestPoint(of: row) {
                let point = RequestPoint(
                    series: dimensions, start: UInt64(clamping: start), end: latest.end, statistics: latest.statistics)
                process.points.append(
                    CumulativePoint(stream: StreamID(bytes: [UInt8](stream)), point: point, unit: latest.unit))
            } else {
                process.isDamaged = true
            }
            processes[start] = process
        }
        return processes.values.filter { !$0.isDamaged }.flatMap { process in
            process.points.map { ($0, UInt64(clamping: process.arrival)) }
        }
    }
}
