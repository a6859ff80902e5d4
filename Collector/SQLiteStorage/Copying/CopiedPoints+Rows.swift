import Foundation
import GRDB
import MartletStorage
import MartletTelemetry

extension CopiedPoints {
    /// Chunks of a part at most, and the points after which it ends.
    private static let (maxRows, maxPoints) = (256, 20_000)

    /// - Parameter expired: the times up to which points are wanted by the minute and by the hour.
    static func part(after number: Int64, _ expired: ExpiredTimes, in db: Database) throws -> CopiedPart? {
        // NOT INDEXED keeps the order of the numbers: indices over the times would be searched and sorted for each part.
        let rows = try Row.fetchCursor(
            db,
            sql: """
                SELECT id, tier, resource_id, end_time, count, damaged, checksum, points FROM chunk NOT INDEXED
                WHERE id > ? AND (\(condition(expired))) ORDER BY id LIMIT \(maxRows)
                """, arguments: [number])
        var (found, count, last) = ([CopiedPoints](), 0, Int64?.none)
        var reader = ChunkReader(
            covers: try StatisticsCoverRows.covers(in: db), reported: try StatisticsCoverRows.reportedTimes(in: db))
        while count < maxPoints, let row = try rows.next() {
            last = row["id"]
            guard let points = try reader.points(of: row, in: db) else { continue }
            count += points.points.count
            found.append(points)
        }
        return last.map { CopiedPart(.points(found), last: $0, damaged: reader.damaged) }
    }

    /// Returns the condition that selects each point once, as fine as it is wanted.
    private static func condition(_ expired: ExpiredTimes) -> String {
        let (minutes, fine) = (UInt64(clamping: expired.minutes), UInt64(clamping: expired.fine))
        let parts: [(from: UInt64, to: UInt64, tier: Tier?)] = [
            (0, minutes, .hour), (minutes, fine, .minute), (fine, UInt64(Int64.max), nil),
        ]
        let ranges = parts.flatMap { part in
            WindowRanges(
                TimeWindow(from: part.from, to: part.to), expired: expired,
                step: part.tier.map { UInt64($0.length) } ?? 1
            ).ranges
        }
        return ranges.map { range in
            """
            (tier = \(range.tier.rawValue) AND rolled = \(range.isRolled ? 1 : 0) AND end_time > \(range.from) \
            AND end_time <= \(range.to)\(range.contents == .delivered ? " AND NOT derived" : ""))
            """
        }.joined(separator: " OR ")
    }
}

/// Reads chunks with the names of their senders and series, each of which it looks up once.
private struct ChunkReader {
    /// Points that could not be read.
    private(set) var damaged = 0
    private let covers: [Int64: MetricsCover]
    private let reported: [StatisticsCoverRows.Reporter: [ClosedRange<Int64>]]
    private var resources: [Int64: TelemetryResource] = [:]
    private var series: [Int64: SharedDimensions] = [:]
    private var entryReader = EntryReader()

    init(covers: [Int64: MetricsCover], reported: [StatisticsCoverRows.Reporter: [ClosedRange<Int64>]]) {
        self.covers = covers
        self.reported = reported
    }

    /// Returns the points of a chunk that count; `nil` if it cannot be read.
    mutating func points(of row: Row, in db: Database) throws -> CopiedPoints? {
        let (number, sender, end): (Int64, Int64, Int64) = (row["id"], row["resource_id"], row["end_time"])
        let (count, lost): (Int, Int) = (row["count"], row["damaged"])
        damaged &+= lost
        let (stored, checksum): (Data, Int64) = (row["points"], row["checksum"])
        let bytes = [UInt8](stored)
        guard let resource = try resource(sender, in: db), ChunkChecksum.of(bytes) == checksum else {
            damaged &+= count
            return nil
        }
        let start = end - min(end, (Tier(rawValue: row["tier"]) ?? .fine).length)
        var copied = CopiedPoints(number: number, resource: resource, points: [])
        var (entries, reader, left) = (ChunkEntries(bytes), ByteReader(bytes), count)
        while let entry = entries.entry {
            var statistics = RequestStatistics()
            if entryReader.read(entry, of: &reader) {
                left -= 1
                entryReader.add(to: &statistics)
            }
            let dimensions = try dimensions(entries.series, in: db)
            entries.next()
            guard let dimensions, !statistics.isEmpty, counts(dimensions.value, of: sender, end: end) else { continue }
            let times = times(from: start, to: end, of: dimensions.value, of: sender)
            copied.points.append(
                RequestPoint(
                    series: dimensions, start: UInt64(clamping: times.lowerBound),
                    end: UInt64(clamping: times.upperBound), statistics: statistics))
        }
        damaged &+= max(0, left)
        return copied
    }

    /// Returns the part of a slot for which a sender other than Martlet's agents reported a kind of requests: metrics of half an hour
    /// cover no spans beside them.
    private func times(
        from start: Int64, to end: Int64, of dimensions: RequestDimensions, of sender: Int64
    ) -> ClosedRange<Int64> {
        let reporter = StatisticsCoverRows.Reporter(resource: sender, kind: dimensions.kind)
        let inside = (dimensions.source == .metrics ? reported[reporter] ?? [] : [])
            .filter { $0.lowerBound < end && $0.upperBound > start }
        guard let first = inside.map(\.lowerBound).min(), let last = inside.map(\.upperBound).max() else {
            return min(start, end)...end
        }
        let (from, to) = (max(start, first), min(end, last))
        return min(from, to)...to
    }

    /// Whether no metrics report the same requests: see ``MetricsCover``.
    private func counts(_ dimensions: RequestDimensions, of sender: Int64, end: Int64) -> Bool {
        dimensions.source == .metrics || covers[sender]?.contains(dimensions.kind, end: end) != true
    }

    private mutating func resource(_ id: Int64, in db: Database) throws -> TelemetryResource? {
        if let known = resources[id] { return known }
        resources[id] = try ResourceRows.find(id, in: db)
        return resources[id]
    }

    private mutating func dimensions(_ id: Int64, in db: Database) throws -> SharedDimensions? {
        if let known = series[id] { return known }
        series[id] = try SeriesRows.find(id, in: db).map(SharedDimensions.init)
        return series[id]
    }
}

extension StatisticsCoverRows {
    fileprivate struct Reporter: Hashable {
        var resource: Int64
        var kind: RequestKind
    }

    /// Returns the times for which senders reported requests in metrics.
    fileprivate static func reportedTimes(in db: Database) throws -> [Reporter: [ClosedRange<Int64>]] {
        let rows = try Row.fetchCursor(
            db, sql: "SELECT resource_id, kind, from_time, to_time FROM statistics_cover WHERE source = 'metrics'")
        var times: [Reporter: [ClosedRange<Int64>]] = [:]
        while let row = try rows.next() {
            guard let kind = RequestKind(rawValue: row["kind"]) else { continue }
            let (from, to): (Int64, Int64) = (row["from_time"], row["to_time"])
            times[Reporter(resource: row["resource_id"], kind: kind), default: []].append(from...max(from, to))
        }
        return times
    }
}
