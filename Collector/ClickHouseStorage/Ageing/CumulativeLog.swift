import MartletStorage
import MartletTelemetry

/// The cumulative figures of senders as they arrived.
struct CumulativeLog {
    /// A figure and its time of arrival.
    struct Entry<Value: Sendable>: Sendable {
        let sender: UInt64
        let time: Int64
        let value: Value
    }

    struct Stream: Hashable {
        let sender: UInt64
        let stream: CumulativeDifferences.Stream
    }

    /// The number of a stream's last points that are read to find its latest. One is not enough, because the last one may have
    /// arrived late.
    static let depth = 4
    /// The number of points that are read of a stream whose figures fell: the last ones of each of its writers.
    static let depthOfShared = depth * StreamWriters.limit
    /// The distances to search back for the latest points of a stream, in nanoseconds, in the order in which they are tried.
    private static let distances: [Int64] = [2 * StoredHour.length, StoredDay.length, .max]
    /// The largest number of senders in one search. A long log takes long to search.
    private static let maxSenders = 32

    let client: ClickHouseClient

    /// Returns the points that arrived after `first` and up to `last`.
    func points(of senders: [UInt64], after first: Int64, until last: Int64) async throws -> [Entry<CumulativePoint>] {
        try await points(where: Self.condition(senders, after: first, until: last))
    }

    /// Returns the last points of streams that arrived up to a time, at most `depth` per stream. Known streams are searched
    /// only over the shortest distance.
    func lastPoints(
        of streams: Set<Stream>, known: Set<Stream>, until last: Int64, depth: Int = depth
    ) async throws -> [Entry<CumulativePoint>] {
        var (found, missing) = ([Entry<CumulativePoint>](), streams)
        for distance in Self.distances where !missing.isEmpty {
            let bySender = Dictionary(grouping: missing, by: \.sender).values.map(\.self)
            for first in stride(from: 0, to: bySender.count, by: Self.maxSenders) {
                let part = bySender[first..<min(first + Self.maxSenders, bySender.count)].flatMap(\.self)
                let after = last > distance ? last - distance : -1
                found += try await points(where: Self.condition(lastOf: part, depth, after: after, until: last))
            }
            missing = streams.subtracting(known).subtracting(found.map(\.stream))
        }
        return found
    }

    /// Returns the latest ends that each process of the senders reported before a time, by the process's start.
    func ends(
        of senders: [UInt64], before time: Int64
    ) async throws -> [UInt64: [UnixNanoseconds: Set<UnixNanoseconds>]] {
        guard !senders.isEmpty else { return [:] }
        let rows = try await client.rows(
            ["sender", "start_ns", "end_ns"],
            """
            FROM cumulative WHERE \(Self.condition(senders, until: time - 1)) \
            ORDER BY end_ns DESC LIMIT \(Self.depth) BY sender, start_ns
            """, distinct: true
        ) { (sender: try $0.number("sender", UInt64.self), start: try $0.time("start_ns"), end: try $0.time("end_ns")) }
        return rows.reduce(into: [:]) { $0[$1.sender, default: [:]][$1.start, default: []].insert($1.end) }
    }

    /// Returns the totals of process counters that arrived after `first` and up to `last`.
    func totals(of senders: [UInt64], after first: Int64, until last: Int64) async throws -> [Entry<ProcessTotal>] {
        let rows = try await client.rows(
            ["sender", "arrival", "counter", "start_ns", "end_ns", "value"],
            "FROM process_total WHERE \(Self.condition(senders, after: first, until: last))"
        ) { try Self.total(&$0) }
        return rows.compactMap(\.self)
    }

    /// Returns the latest total for each counter and process start, among those that arrived from an hour up to a time. Of a known
    /// start it is the highest: see ``ProcessTotal/replaces(_:)``.
    func lastTotals(
        of senders: [UInt64], since hour: UInt32, until last: Int64
    ) async throws -> [Entry<ProcessTotal>] {
        guard !senders.isEmpty else { return [] }
        let rows = try await client.rows(
            ["sender", "counter", "start_ns"]
                + [
                    "arrival": "max(arrival)",
                    "end_ns": "if(start_ns = 0, max(end_ns), argMax(end_ns, (value, end_ns)))",
                    "value": "if(start_ns = 0, argMax(value, end_ns), max(value))",
                ],
            """
            FROM process_total WHERE \(Self.condition(senders, until: last)) AND hour >= \(hour) \
            GROUP BY sender, counter, start_ns
            """
        ) { try Self.total(&$0) }
        return rows.compactMap(\.self)
    }

    private func points(where condition: String) async throws -> [Entry<CumulativePoint>] {
        let rows = try await client.rows(
            Selection(Schema.cumulative), "FROM cumulative PREWHERE \(condition)"
        ) { try Self.point(&$0) }
        return rows.compactMap(\.self)
    }

    private static func point(_ row: inout RowReader) throws -> Entry<CumulativePoint>? {
        guard let dimensions = try RequestDimensions(&row), let statistics = try StatisticsRow(&row).ofPoint else {
            return nil
        }
        let point = RequestPoint(
            dimensions: dimensions, start: try row.time("start_ns"), end: try row.time("end_ns"),
            statistics: statistics)
        let cumulative = CumulativePoint(
            stream: StreamID(bytes: try row.bytes("stream", 16)), point: point, unit: try row.double("unit"))
        return Entry(sender: try row.number("sender"), time: try row.number("arrival"), value: cumulative)
    }

    private static func total(_ row: inout RowReader) throws -> Entry<ProcessTotal>? {
        guard let counter = ProcessCounter(rawValue: try row.number("counter")) else { return nil }
        let total = ProcessTotal(
            counter, start: try row.time("start_ns"), end: try row.time("end_ns"), value: try row.number("value"))
        return Entry(sender: try row.number("sender"), time: try row.number("arrival"), value: total)
    }

    private static func condition(_ senders: [UInt64], after first: Int64 = -1, until last: Int64) -> String {
        """
        hour BETWEEN \(UInt32(hourOf: max(first, 0))) AND \(UInt32(hourOf: last)) \
        AND arrival > \(first) AND arrival <= \(last) AND sender IN \(SQLText.list(Set(senders)))
        """
    }

    private static func condition(
        lastOf streams: [Stream], _ depth: Int, after first: Int64, until last: Int64
    ) -> String {
        let times = condition(streams.map(\.sender), after: first, until: last)
        let names = streams.map {
            "(\($0.sender), \(SQLText.bytes($0.stream.id.bytes)), \(Int64(clamping: $0.stream.start)))"
        }
        return """
            \(times) AND (sender, stream, start_ns, arrival) IN (SELECT sender, stream, start_ns, arrival FROM cumulative \
            WHERE \(times) AND (sender, stream, start_ns) IN (\(names.joined(separator: ", "))) \
            ORDER BY arrival DESC LIMIT \(depth) BY sender, stream, start_ns)
            """
    }
}

extension CumulativeLog.Entry<CumulativePoint> {
    var stream: CumulativeLog.Stream {
        CumulativeLog.Stream(sender: sender, stream: CumulativeDifferences.Stream(value))
    }
}

/// Cumulative figures as rows of `cumulative` and `process_total`.
extension TableRows {
    mutating func append(_ points: [CumulativePoint], sender: UInt64, arrival: Int64) {
        for cumulative in points {
            append { row in
                row.number(UInt32(hourOf: arrival))
                row.number(sender)
                row.number(arrival)
                row.fixed(cumulative.stream.bytes)
                row.number(Int64(clamping: cumulative.point.start))
                row.number(Int64(clamping: cumulative.point.end))
                row.double(cumulative.unit)
                row.add(cumulative.point.dimensions)
                row.add(cumulative.point.statistics)
            }
        }
    }

    mutating func append(_ totals: [ProcessTotal], sender: UInt64, arrival: Int64) {
        for total in totals {
            append { row in
                row.number(UInt32(hourOf: arrival))
                row.number(sender)
                row.number(arrival)
                row.number(total.counter.rawValue)
                row.number(Int64(clamping: total.start))
                row.number(Int64(clamping: total.end))
                row.number(total.value)
            }
        }
    }
}
