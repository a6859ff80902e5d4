import Foundation
import GRDB
import MartletStorage
import MartletTelemetry
import Synchronization

/// The table of the latest point of each writer of each cumulative stream: see ``CumulativeDifferences``.
enum CumulativeRows {
    private typealias Stream = CumulativeDifferences.Stream

    /// Returns the new requests in the points, and stores the points. Points of streams without room are not counted. Otherwise
    /// each point would be counted from its stream's start.
    static func newRequests(
        in points: [CumulativePoint], resource: Int64, at now: UnixNanoseconds, _ limits: SQLiteLimits,
        _ streams: WriterStreams, in db: Database
    ) throws -> [RequestPoint] {
        guard !points.isEmpty else { return [] }
        var known: [Stream: StreamWriters] = [:]
        var damaged: Set<Stream> = []
        for stream in Set(points.map(Stream.init)) {
            switch try find(stream, resource: resource, in: db) {
            case .writers(let writers): known[stream] = writers
            case .damaged: damaged.insert(stream)
            case .nothing: break
            }
        }
        let isAllKnown = points.allSatisfy { known[Stream($0)] != nil }
        // The history is read before room is made, because that may delete streams of other processes.
        let past = isAllKnown ? CumulativeHistory() : try history(of: resource, in: db)
        let new = Set(points.map(Stream.init)).filter { known[$0] == nil && !damaged.contains($0) }
        let admitted = new.isEmpty ? 0 : try room(for: new.count, at: now, limits, streams, in: db)
        let refused = Set(new.dropFirst(admitted))
        let uncounted = refused.isEmpty ? [] : points.filter { refused.contains(Stream($0)) }
        try UncountedRows.note(uncounted, of: resource, in: db)
        let points = refused.isEmpty ? points : points.filter { !refused.contains(Stream($0)) }
        var differences = CumulativeDifferences(
            since: known, damaged: damaged, past, firstIntervalAtMost: limits.firstCumulativeInterval,
            writersAtMost: streams.maySearch(at: now) ? StreamWriters.limit : 1)
        differences.add(points)
        for (stream, writers) in differences.streams {
            for index in writers.changed {
                try save(writers, index, of: stream, resource: resource, at: now, in: db)
            }
        }
        // Writers have rows as streams have. If there is no room for these, no more are followed for a while.
        let more = differences.streams.reduce(0) { $0 + $1.value.latest.count - (known[$1.key]?.latest.count ?? 1) }
        if more > 0 { _ = try room(for: more, at: now, limits, streams, in: db) }
        streams.countUncounted(uncounted.count)
        return differences.points
    }

    /// Whether several processes are known to share the sender.
    static func isShared(_ resource: Int64, in db: Database) throws -> Bool {
        let statement = try db.cachedStatement(
            sql: "SELECT 1 FROM cumulative_series WHERE shared = 1 AND resource_id = ? LIMIT 1")
        return try Int.fetchOne(statement, arguments: [resource]) != nil
    }

    private static func history(of resource: Int64, in db: Database) throws -> CumulativeHistory {
        let rows = try Row.fetchAll(
            db,
            sql: "SELECT DISTINCT start_time, end_time, before_time FROM cumulative_series WHERE resource_id = ?",
            arguments: [resource])
        var ends: [UnixNanoseconds: [UnixNanoseconds]] = [:]
        for row in rows {
            let known = [row.unsigned("before_time"), row.unsigned("end_time")].filter { $0 > 0 }
            ends[row.unsigned("start_time"), default: []] += known
        }
        let forgotten = try Int64.fetchOne(
            db, sql: "SELECT forgotten_until FROM resource WHERE id = ?", arguments: [resource])
        return CumulativeHistory(ends: ends, forgottenUntil: UInt64(clamping: forgotten ?? 0))
    }

    private enum Found {
        case writers(StreamWriters)
        case nothing
        /// A stored point cannot be read, so the next point says nothing about new requests.
        case damaged
    }

    private static func find(_ stream: Stream, resource: Int64, in db: Database) throws -> Found {
        let statement = try db.cachedStatement(
            sql: """
                SELECT * FROM cumulative_series WHERE resource_id = ? AND start_time = ? AND stream = ? ORDER BY writer
                """)
        let rows = try Row.fetchAll(
            statement, arguments: [resource, Int64(clamping: stream.start), Data(stream.id.bytes)])
        guard let first = rows.first else { return .nothing }
        let points = rows.compactMap(latestPoint)
        guard points.count == rows.count else {
            try forgetWriters(of: stream, resource: resource, in: db)
            return .damaged
        }
        return .writers(
            StreamWriters(
                points, countsNewWriters: first["counts_writers"], isShared: rows.contains { $0["shared"] }))
    }

    /// Deletes the writers of a damaged stream except for the first, whose row the next point replaces.
    private static func forgetWriters(of stream: Stream, resource: Int64, in db: Database) throws {
        try db.cachedStatement(
            sql: """
                DELETE FROM cumulative_series WHERE resource_id = ? AND start_time = ? AND stream = ? AND writer > 0
                """
        ).execute(arguments: [resource, Int64(clamping: stream.start), Data(stream.id.bytes)])
    }

    /// Returns `nil` if the disk returned bytes other than those written.
    private static func latestPoint(of row: Row) -> StreamWriters.LatestPoint? {
        let sketch: Data = row["sketch"]
        guard let duration = SketchBlob.decode([UInt8](sketch)) else { return nil }
        return StreamWriters.LatestPoint(
            end: row.unsigned("end_time"), unit: row["unit"],
            statistics: RequestStatistics(
                duration: duration, bytesSent: row.unsigned("bytes_sent"), bytesReceived: row.unsigned("bytes_received")
            ))
    }

    private static func save(
        _ writers: StreamWriters, _ index: Int, of stream: Stream, resource: Int64, at now: UnixNanoseconds,
        in db: Database
    ) throws {
        let statement = try db.cachedStatement(
            sql: """
                INSERT INTO cumulative_series
                    (resource_id, start_time, stream, writer, counts_writers, shared,
                     end_time, bytes_sent, bytes_received, sketch, unit, received)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (resource_id, start_time, stream, writer) DO UPDATE SET
                    before_time = CASE WHEN excluded.end_time > end_time THEN end_time
                        ELSE min(before_time, excluded.end_time) END,
                    counts_writers = excluded.counts_writers, shared = excluded.shared,
                    end_time = excluded.end_time, bytes_sent = excluded.bytes_sent,
                    bytes_received = excluded.bytes_received, sketch = excluded.sketch, unit = excluded.unit,
                    received = excluded.received
                """)
        let point = writers.latest[index]
        try statement.execute(arguments: [
            resource, Int64(clamping: stream.start), Data(stream.id.bytes), index, writers.countsNewWriters,
            writers.isShared, Int64(clamping: point.end),
            Int64(clamping: point.statistics.bytesSent), Int64(clamping: point.statistics.bytesReceived),
            Data(SketchBlob.encode(point.statistics.duration)), point.unit, Int64(clamping: now),
        ])
    }

    /// Returns the number of new streams that fit, at most `wanted`. If needed, it makes room by deleting silent streams.
    private static func room(
        for wanted: Int, at now: UnixNanoseconds, _ limits: SQLiteLimits, _ streams: WriterStreams, in db: Database
    ) throws -> Int {
        let count = try db.cachedStatement(sql: "SELECT count(*) FROM cumulative_series")
        let free = limits.maxCumulativeSeries - (try Int.fetchOne(count) ?? 0)
        guard free < wanted, streams.maySearch(at: now) else { return min(max(free, 0), wanted) }
        let silent = now - min(now, limits.cumulativeSilence)
        let freed = try prune(wanted - free + limits.maxCumulativeSeries / 100, silentSince: silent, in: db)
        if free + freed < wanted { streams.noteSearch(at: now) }
        return min(max(free + freed, 0), wanted)
    }

    /// Deletes the processes that have been silent longest, each with all its streams. If some streams of a process remained,
    /// its other streams would look new.
    ///
    /// - Parameters:
    ///   - surplus: the number of streams to delete, if that many are silent.
    ///   - time: the time since which a process must have been silent, by the collector's clock.
    /// - Returns: the number of deleted streams.
    private static func prune(_ surplus: Int, silentSince time: UnixNanoseconds, in db: Database) throws -> Int {
        let processes = try Row.fetchCursor(
            db.cachedStatement(
                sql: """
                    SELECT resource_id, start_time, min(max(end_time), max(received)) AS last, count(*) AS count
                    FROM cumulative_series GROUP BY resource_id, start_time HAVING max(received) <= ?
                    ORDER BY max(received), max(id)
                    """), arguments: [Int64(clamping: time)])
        var (oldest, deleted) = ([Row](), 0)
        while deleted < surplus, let process = try processes.next()?.copy() {
            oldest.append(process)
            deleted += process["count"]
        }
        for process in oldest { try forget(process, in: db) }
        return deleted
    }

    /// Deletes a process but keeps its latest end, so that its earlier requests are not counted again if it comes back. That
    /// end is at most the time of arrival, by the collector's clock. Otherwise a sender with a fast clock would affect all
    /// processes that share its resource.
    private static func forget(_ process: Row, in db: Database) throws {
        let (resource, start, last): (Int64, Int64, Int64) = (
            process["resource_id"], process["start_time"], process["last"]
        )
        try db.cachedStatement(sql: "UPDATE resource SET forgotten_until = max(forgotten_until, ?) WHERE id = ?")
            .execute(arguments: [last, resource])
        try db.cachedStatement(sql: "DELETE FROM cumulative_series WHERE resource_id = ? AND start_time = ?")
            .execute(arguments: [resource, start])
    }
}

/// The writer's state for a full table of cumulative streams: the time of the next search for silent streams, and the number of
/// uncounted points.
final class WriterStreams: Sendable {
    /// The wait before the next search, in nanoseconds. A search for silent streams reads all rows.
    private static let pause: UnixNanoseconds = 60 * 1_000_000_000

    private let nextSearch = Atomic<UnixNanoseconds>(0)
    private let uncounted = Atomic<UInt64>(0)

    /// The number of points not counted since the start, because their streams had no room.
    var uncountedPoints: UInt64 { uncounted.load(ordering: .relaxed) }

    func countUncounted(_ points: Int) { uncounted.wrappingAdd(UInt64(points), ordering: .relaxed) }

    /// Returns whether a search for silent streams is allowed now.
    func maySearch(at now: UnixNanoseconds) -> Bool { now >= nextSearch.load(ordering: .relaxed) }

    /// Records a search that found too few silent streams.
    func noteSearch(at now: UnixNanoseconds) { nextSearch.store(now &+ Self.pause, ordering: .relaxed) }
}

/// The table of the times in which points of cumulative streams had no room: see ``CumulativeRows``.
enum UncountedRows {
    /// Records the points of a sender that had no room.
    static func note(_ points: [CumulativePoint], of resource: Int64, in db: Database) throws {
        let ends = Dictionary(grouping: points.map { Int64(clamping: $0.point.end) }) { $0 / Tier.hour.length }
        let statement = try db.cachedStatement(
            sql: """
                INSERT INTO uncounted (hour, resource_id, from_time, to_time) VALUES (?, ?, ?, ?)
                ON CONFLICT (hour, resource_id) DO UPDATE SET
                    from_time = min(from_time, excluded.from_time), to_time = max(to_time, excluded.to_time)
                """)
        for (hour, ends) in ends {
            guard let first = ends.min(), let last = ends.max() else { continue }
            try statement.execute(arguments: [hour, resource, first, last])
        }
    }

    /// Deletes hours that ended by this time, at most ``SQLiteLimits/deletedRows``, and returns the number deleted.
    static func delete(until time: Int64, in db: Database) throws -> Int {
        try db.delete(
            from: "uncounted", by: "hour, resource_id", where: "hour < ?", [time / Tier.hour.length],
            atMost: SQLiteLimits.deletedRows)
    }
}
