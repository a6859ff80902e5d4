import MartletStorage
import MartletTelemetry

/// The batches that have arrived, limited to those that overlap the requested batches.
struct KnownBatches {
    private struct Stream: Hashable {
        var instance: String
        var signal: String
    }

    private struct Arrived {
        var first: UInt64
        var last: UInt64
        var parts = BatchParts()
    }

    private var streams: [Stream: [Arrived]] = [:]

    /// The largest number of a batch's sequences that are looked up one by one. More sequences are looked up as a range, which
    /// ClickHouse compares with every row of the stream.
    private static let maxListed: UInt64 = 100

    /// Looks up which of these batches are known, and which of these contents without a number.
    init(touching ids: [BatchID], contents: [String], in client: ClickHouseClient) async throws {
        let statements = Self.statements(ids, contents)
        guard !statements.isEmpty else { return }
        let rows = try await client.rows(
            Self.columns, "FROM (\(statements.joined(separator: " UNION ALL ")))"
        ) {
            (
                stream: Stream(instance: try $0.text("instance"), signal: try $0.text("signal")),
                first: try $0.number("first", UInt64.self), last: try $0.number("last", UInt64.self),
                part: try $0.text("part")
            )
        }
        for row in rows { insert(row.stream, row.first, row.last, row.part) }
    }

    private static let columns: Selection = ["instance", "signal", "first", "last", "part"]

    /// Returns statements that find rows by the table's key. They find single sequences by number, and merged batches by
    /// stream, because a stream has few of those.
    private static func statements(_ ids: [BatchID], _ contents: [String]) -> [String] {
        let metrics = "'\(Signal.metrics.rawValue)'"
        var singles = contents.map { "(\(SQLText.quoted($0)), \(metrics), 0, 0)" }
        var (streams, ranges) = (Set<String>(), [String]())
        for id in ids {
            let stream = "\(SQLText.quoted(id.instance)), '\(id.signal.rawValue)'"
            streams.insert("(\(stream), 1)")
            if id.sequence - id.first < maxListed {
                singles += (id.first...id.sequence).map { "(\(stream), 0, \($0))" }
            } else {
                ranges.append(
                    "(instance = \(SQLText.quoted(id.instance)) AND signal = '\(id.signal.rawValue)' AND merged = 0 AND last BETWEEN \(id.first) AND \(id.sequence))"
                )
            }
        }
        var conditions: [String] = []
        if !singles.isEmpty {
            conditions.append("(instance, signal, merged, last) IN (\(singles.joined(separator: ", ")))")
        }
        if !streams.isEmpty {
            conditions.append("(instance, signal, merged) IN (\(streams.sorted().joined(separator: ", ")))")
        }
        if !ranges.isEmpty { conditions.append(ranges.joined(separator: " OR ")) }
        return conditions.map { "SELECT DISTINCT \(columns.list) FROM batch WHERE \($0)" }
    }

    /// Records a batch's arrival, and returns what it changes.
    mutating func arrival(of batch: BatchID) -> BatchArrival {
        let stream = Stream(instance: batch.instance, signal: batch.signal.rawValue)
        let known = streams[stream] ?? []
        let parts = known.first { $0.first == batch.first && $0.last == batch.sequence }?.parts ?? BatchParts()
        let arrival = BatchArrival(of: batch, knownSequences: wholeSequences(in: batch, known), knownParts: parts)
        if arrival.outcome != .duplicate { insert(stream, batch.first, batch.sequence, batch.part) }
        return arrival
    }

    /// Returns whether contents without a number have already arrived, and records them.
    mutating func contains(_ contents: String) -> Bool {
        let stream = Stream(instance: contents, signal: Signal.metrics.rawValue)
        guard streams[stream] == nil else { return true }
        insert(stream, 0, 0, "")
        return false
    }

    private mutating func insert(_ stream: Stream, _ first: UInt64, _ last: UInt64, _ part: String) {
        var known = streams.removeValue(forKey: stream) ?? []
        let index = known.firstIndex { $0.first == first && $0.last == last } ?? known.count
        if index == known.count { known.append(Arrived(first: first, last: last)) }
        known[index].parts.insert(part)
        streams[stream] = known
    }

    /// Returns the number of the batch's sequences that have already arrived whole.
    private func wholeSequences(in batch: BatchID, _ known: [Arrived]) -> Int {
        let ranges = known.filter { $0.parts.isWhole && $0.last >= batch.first && $0.first <= batch.sequence }
            .map { max($0.first, batch.first)...min($0.last, batch.sequence) }
            .sorted { $0.lowerBound < $1.lowerBound }
        var (count, end) = (UInt64(0), UInt64?.none)
        for range in ranges where end.map({ $0 < range.upperBound }) ?? true {
            let first = end.map { max(range.lowerBound, $0 + 1) } ?? range.lowerBound
            count += range.upperBound - first + 1
            end = range.upperBound
        }
        return Int(clamping: count)
    }
}

/// Numbers of batches as rows of `batch`.
extension TableRows {
    /// - Parameters:
    ///   - id: a batch that arrived. Its part is `""` if the batch is whole.
    ///   - fresh: see ``BatchArrival/newSequences``.
    ///   - overlapping: how many batches in it arrived after some of their intervals.
    ///   - end: the latest time in the batch.
    mutating func append(_ id: BatchID, fresh: UInt64 = 0, overlapping: UInt64 = 0, end: UnixNanoseconds) {
        append { row in
            row.number(UInt32(hourOf: Int64(clamping: end)))
            row.text(id.instance)
            row.text(id.signal.rawValue)
            row.flag(id.first < id.sequence)
            row.number(id.sequence)
            row.number(id.first)
            row.text(id.part)
            row.number(fresh)
            row.number(overlapping)
        }
    }
}
