import Foundation
import GRDB
import MartletStorage
import MartletTelemetry

/// The contents of a file that is copied to another store. It claims the file as a collector does, so nothing changes meanwhile,
/// and leaves it as it is. Safe to use from any task.
package final class SQLiteContents: Sendable {
    /// The store's identity.
    package let id: String
    private let queue: DatabaseQueue
    private let lock: StoreLock

    /// Throws ``StorageFailure`` if the file is no store, or a collector uses it.
    package init(of path: String) throws {
        try StoreFile.inspect(path, forReading: true)
        let path = StoreFile.resolve(path)
        lock = try StoreLock(of: path)
        var configuration = Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(5)
        configuration.prepareDatabase(Pragmas.configure)
        (queue, id) = try StoreFile.describingErrors(of: path) {
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            return (queue, try queue.read(StoreID.read))
        }
    }

    /// Returns the next rows of a table; `nil` at its end.
    ///
    /// - Parameters:
    ///   - number: the number of the last row that was read; 0 at first.
    ///   - hours: the time up to which figures are wanted by the hour, in nanoseconds since 1970. Later ones are as fine as the
    ///     file has them.
    package func part(of table: CopiedTable, after number: Int64, hoursUntil hours: Int64) async throws -> CopiedPart? {
        try await queue.read { db in
            switch table {
            case .batches: try CopiedBatches.part(after: number, in: db)
            case .senders: try CopiedSender.part(after: number, try Self.times(hoursUntil: hours, in: db), in: db)
            case .points: try CopiedPoints.part(after: number, try Self.times(hoursUntil: hours, in: db), in: db)
            case .details: try CopiedDetail.part(after: number, in: db)
            case .calls: try ObservedCallRows.part(after: number, in: db)
            }
        }
    }

    /// Returns a number that changes whenever a collector uses the file.
    package func fingerprint() async throws -> Int64 {
        try await queue.read { db in
            let figures = try Int64.fetchAll(
                db,
                sql: """
                    SELECT ifnull(max(id), 0) FROM chunk UNION ALL SELECT count(*) FROM chunk
                    UNION ALL SELECT ifnull(max(last_seen), 0) FROM resource
                    UNION ALL SELECT ifnull(max(received), 0) FROM batch_stream
                    UNION ALL SELECT ifnull(max(id), 0) FROM detail UNION ALL SELECT count(*) FROM detail
                    UNION ALL SELECT ifnull(sum(time / 1000000000), 0) FROM expired
                    """)
            let hash = StreamID(hashing: figures.map { Array(String($0).utf8) }).bytes
            return hash.prefix(8).reduce(0) { $0 << 8 | Int64($1) }
        }
    }

    /// Returns the starts of the spans of time in which intervals with points end, in nanoseconds since 1970.
    ///
    /// - Parameter length: the length of a span of time, in nanoseconds.
    package func times(by length: Int64) async throws -> [Int64] {
        try await queue.read { db in
            try Int64.fetchAll(
                db,
                sql: "SELECT DISTINCT (max(end_time, 1) - 1) / ?1 * ?1 FROM chunk ORDER BY 1", arguments: [length])
        }
    }

    private static func times(hoursUntil hours: Int64, in db: Database) throws -> ExpiredTimes {
        let expired = try ExpiredRows.times(in: db)
        return ExpiredTimes(fine: max(expired.fine, hours), minutes: max(expired.minutes, hours))
    }
}

extension CopiedBatches {
    /// Streams of a part at most, and the ranges after which it ends.
    private static let (maxRows, maxRanges) = (200, 20_000)

    static func part(after number: Int64, in db: Database) throws -> CopiedPart? {
        let rows = try Row.fetchCursor(
            db, sql: "SELECT * FROM batch_stream WHERE id > ? ORDER BY id LIMIT \(maxRows)", arguments: [number])
        var (found, count, last) = ([CopiedBatches](), 0, Int64?.none)
        while count < maxRanges, let row = try rows.next() {
            last = row["id"]
            guard let batches = try batches(of: row, in: db) else { continue }
            count += batches.whole.count + batches.parts.count
            found.append(batches)
        }
        return last.map { CopiedPart(.batches(found), last: $0) }
    }

    /// Returns `nil` for a signal that this version does not know.
    private static func batches(of row: Row, in db: Database) throws -> CopiedBatches? {
        let (id, instance, received): (Int64, String, Int64) = (row["id"], row["instance"], row["received"])
        guard let signal = Signal(rawValue: row["signal"]),
            let stream = try BatchStream.find(instance: instance, signal, in: db)
        else { return nil }
        let parts = try Row.fetchAll(db, sql: "SELECT * FROM batch_part WHERE stream_id = ?", arguments: [id])
        return CopiedBatches(
            instance: instance, signal: signal, whole: try whole(of: id, in: db),
            parts: parts.map { row in
                let (first, last): (Int64, Int64) = (row["first"], row["sequence"])
                return BatchID(
                    instance: instance, sequence: UInt64(bitPattern: last), first: UInt64(bitPattern: first),
                    part: row["part"], signal: signal)
            },
            sequences: stream.sequences, received: UInt64(clamping: received))
    }

    /// Returns the sequences of a stream that arrived whole.
    private static func whole(of stream: Int64, in db: Database) throws -> [ClosedRange<UInt64>] {
        let blocks = try Row.fetchCursor(
            db, sql: "SELECT block, bits FROM batch_block WHERE stream_id = ? ORDER BY block", arguments: [stream])
        var ranges: [ClosedRange<UInt64>] = []
        while let row = try blocks.next() {
            let (number, bits): (Int64, BatchBlock) = (row["block"], BatchBlock(row["bits"]))
            let (first, isPastAllNumbers) = UInt64(clamping: number).multipliedReportingOverflow(by: BatchBlock.size)
            if isPastAllNumbers { break }
            for position in 0..<Int(BatchBlock.size) where bits.count(in: position...position) == 1 {
                let sequence = first + UInt64(position)
                if let last = ranges.last, last.upperBound + 1 == sequence {
                    ranges[ranges.count - 1] = last.lowerBound...sequence
                } else {
                    ranges.append(sequence...sequence)
                }
            }
        }
        return ranges
    }
}

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

extension CopiedDetail {
    private static let maxRows = 2_000

    static func part(after number: Int64, in db: Database) throws -> CopiedPart? {
        let rows = try Row.fetchCursor(
            db, sql: "SELECT * FROM detail WHERE id > ? ORDER BY id LIMIT \(maxRows)", arguments: [number])
        var (found, last, damaged) = ([CopiedDetail](), Int64?.none, 0)
        var resources: [Int64: TelemetryResource] = [:]
        while let row = try rows.next() {
            let (number, sender, received): (Int64, Int64, Int64) = (row["id"], row["resource_id"], row["received"])
            last = number
            if resources[sender] == nil { resources[sender] = try ResourceRows.find(sender, in: db) }
            // A row that cannot be read is left out, however its texts are damaged.
            if let span = try? DetailRows.decode(row), let resource = resources[sender] {
                found.append(
                    CopiedDetail(
                        number: number, resource: resource, span: span, received: UInt64(clamping: received)))
            } else {
                damaged += 1
            }
        }
        return last.map { CopiedPart(.details(found), last: $0, damaged: damaged) }
    }
}
