import Foundation
import GRDB
import MartletStorage
import MartletTelemetry

/// The table of the figures of processes. A point is added to a slot of each tier at once. So a sender has a bounded number of
/// rows, whatever it sends, and nothing is rolled up later.
enum ProcessRows {
    /// The largest number of remembered starts of one counter. Processes that share a resource have different starts.
    private static let maxStarts = 64

    /// - Parameter unlessKnown: whether to skip points that the sender has already sent. It may resend them if it does not number
    ///   its batches.
    static func insert(
        _ metrics: InstanceMetrics, of resource: Int64, unlessKnown: Bool, _ limits: SQLiteLimits, in db: Database
    ) throws {
        let growths = try metrics.processTotals.sorted { $0.end < $1.end }.compactMap {
            try growth($0, of: resource, limits, in: db)
        }
        // A body is resent as a whole, so its last point represents all.
        let isKnown = try unlessKnown && areLast(metrics.process.max { $0.end < $1.end }, of: resource, in: db)
        for point in (isKnown ? [] : metrics.process) + growths {
            for tier in Tier.ofProcesses { try add(point, to: tier, of: resource, in: db) }
        }
    }

    /// Returns whether the latest figures of the point's slot end with the point and include all of its figures.
    private static func areLast(_ point: ProcessPoint?, of resource: Int64, in db: Database) throws -> Bool {
        guard let point, let row = try slot(of: point, in: .fine, of: resource, in: db), let known = decode(row) else {
            return false
        }
        return row["to_time"] == Int64(clamping: point.end) && known.includes(point.statistics)
    }

    private static func slot(
        of point: ProcessPoint, in tier: Tier, of resource: Int64, in db: Database
    ) throws -> Row? {
        let find = try db.cachedStatement(
            sql: "SELECT * FROM process_slot WHERE resource_id = ? AND tier = ? AND end_time = ?")
        let end = tier.slotEnd(of: Int64(clamping: point.end))
        return try Row.fetchOne(find, arguments: [resource, tier.rawValue, end])
    }

    private static func add(_ point: ProcessPoint, to tier: Tier, of resource: Int64, in db: Database) throws {
        let end = tier.slotEnd(of: Int64(clamping: point.end))
        var (statistics, from, to) = (point.statistics, Int64(clamping: point.start), Int64(clamping: point.end))
        if let row = try slot(of: point, in: tier, of: resource, in: db) {
            (from, to) = (min(from, row["from_time"]), max(to, row["to_time"]))
            if let before = decode(row) { statistics.merge(before) }
        }
        let save = try db.cachedStatement(
            sql: """
                INSERT OR REPLACE INTO process_slot (resource_id, tier, end_time, from_time, to_time, figures)
                VALUES (?, ?, ?, ?, ?, ?)
                """)
        try save.execute(
            arguments: [resource, tier.rawValue, end, from, to, Data(ProcessBlob.encode(statistics))])
    }

    /// Returns the figures of a row; `nil` if the disk returned bytes other than those written.
    static func decode(_ row: Row) -> ProcessStatistics? {
        let figures: Data = row["figures"]
        return ProcessBlob.decode([UInt8](figures))
    }

    // MARK: Cumulative counters

    /// Returns the growth since the latest total with the same start, and stores the total.
    private static func growth(
        _ total: ProcessTotal, of resource: Int64, _ limits: SQLiteLimits, in db: Database
    ) throws -> ProcessPoint? {
        let key: StatementArguments = [resource, total.counter.rawValue, Int64(clamping: total.start)]
        let find = try db.cachedStatement(
            sql: "SELECT * FROM process_total WHERE resource_id = ? AND counter = ? AND start_time = ?")
        let known = try Row.fetchOne(find, arguments: key).map { row in
            ProcessTotal(
                total.counter, start: total.start, end: row.unsigned("end_time"), value: row.unsigned("value"))
        }
        if let known, !total.replaces(known) { return nil }
        let save = try db.cachedStatement(
            sql: """
                INSERT OR REPLACE INTO process_total (resource_id, counter, start_time, end_time, value)
                VALUES (?, ?, ?, ?, ?)
                """)
        try save.execute(arguments: key + [Int64(clamping: total.end), Int64(clamping: total.value)])
        if known == nil { try forgetOldStarts(of: total.counter, resource, in: db) }
        return total.growth(since: known, firstIntervalAtMost: limits.firstCumulativeInterval)
    }

    private static func forgetOldStarts(of counter: ProcessCounter, _ resource: Int64, in db: Database) throws {
        let statement = try db.cachedStatement(
            sql: """
                DELETE FROM process_total WHERE resource_id = ?1 AND counter = ?2 AND start_time IN (
                    SELECT start_time FROM process_total WHERE resource_id = ?1 AND counter = ?2
                    ORDER BY end_time DESC LIMIT -1 OFFSET \(maxStarts))
                """)
        try statement.execute(arguments: [resource, counter.rawValue])
    }

    // MARK: Ageing

    /// Deletes slots of a tier, at most ``SQLiteLimits/deletedRows``, and returns the number deleted.
    static func delete(_ tier: Tier, until end: Int64, in db: Database) throws -> Int {
        try db.delete(
            from: "process_slot", by: "resource_id, tier, end_time",
            where: "tier = ? AND end_time <= ? ORDER BY end_time",
            [tier.rawValue, end], atMost: SQLiteLimits.deletedRows)
    }
}

extension ProcessStatistics {
    /// Whether these figures include every figure of `other`, each with at least the same count.
    fileprivate func includes(_ other: ProcessStatistics) -> Bool {
        other.counts.allSatisfy { counter, count in counts[counter].map { $0 >= count } ?? false }
            && other.gauges.allSatisfy { gauge, samples in gauges[gauge].map { $0.count >= samples.count } ?? false }
    }
}

/// The figures of a process as the bytes of a BLOB column.
///
///     version      1 byte, 1
///     counters     1 byte: bit n is the counter with the raw value n
///     gauges       1 byte: bit n is the gauge with the raw value n
///     covered      varint
///     then, for each counter whose bit is set, a varint
///     then, for each gauge whose bit is set:
///       count      varint
///       sum        varint
///       max        varint; missing if the count is 1
enum ProcessBlob {
    private static let version: UInt8 = 1

    static func encode(_ statistics: ProcessStatistics) -> [UInt8] {
        var writer = ByteWriter()
        writer.append(version)
        writer.append(statistics.counts.keys.reduce(0) { $0 | 1 << $1.rawValue })
        writer.append(statistics.gauges.keys.reduce(0) { $0 | 1 << $1.rawValue })
        writer.append(varint: statistics.covered)
        for counter in ProcessCounter.allCases {
            if let count = statistics.counts[counter] { writer.append(varint: count) }
        }
        for gauge in ProcessGauge.allCases {
            guard let samples = statistics.gauges[gauge] else { continue }
            writer.append(varint: samples.count)
            writer.append(varint: samples.sum)
            if samples.count != 1 { writer.append(varint: samples.max) }
        }
        return writer.bytes
    }

    /// Returns `nil` if the bytes cannot come from ``encode(_:)``.
    static func decode(_ bytes: [UInt8]) -> ProcessStatistics? {
        var (reader, statistics) = (ByteReader(bytes), ProcessStatistics())
        guard reader.byte() == version, let counters = reader.byte(), let gauges = reader.byte(),
            let covered = reader.varint()
        else { return nil }
        statistics.covered = covered
        for counter in ProcessCounter.allCases where counters & 1 << counter.rawValue != 0 {
            guard let count = reader.varint() else { return nil }
            statistics.counts[counter] = count
        }
        for gauge in ProcessGauge.allCases where gauges & 1 << gauge.rawValue != 0 {
            guard let count = reader.varint(), let sum = reader.varint(), let max = count == 1 ? sum : reader.varint()
            else { return nil }
            statistics.gauges[gauge] = ProcessStatistics.Samples(count: count, sum: sum, max: max)
        }
        return reader.isAtEnd ? statistics : nil
    }
}
