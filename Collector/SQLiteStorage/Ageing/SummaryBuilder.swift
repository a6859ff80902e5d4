import GRDB
import MartletStorage
import MartletTelemetry

import struct Foundation.Data

/// One step of making summaries: adds up some chunks of minutes in a completed slot by endpoint and outcome, over all processes of
/// one version of a service. A report that needs no finer figures reads the summary, which has a fraction of the points. A reader
/// makes the summary, so the writer has little work.
///
/// A chunk is summarized once. Late chunks become another summary of the same slot, so nothing is counted twice. They wait for
/// the next hour; otherwise a sender that is always late would have a summary for each of its chunks. The chunks stay, and are
/// later rolled up to hours.
///
/// Chunks with requests that only spans reported are left out, because later metrics may decide whether they count
/// (``MetricsCover``).
struct SummaryBuilder {
    private let end: Int64
    private var sources: [Int64] = []
    private var leftOut: [Int64] = []
    private var summaries: [(resource: Int64, blobs: [ChunkBlob], damaged: Int)] = []

    /// Adds up chunks of the oldest slot that is due; `nil` if nothing is due.
    ///
    /// - Parameters:
    ///   - done: the end of the last slot that has summaries. Slots up to it are skipped, and so are slots whose summaries have
    ///     expired.
    ///   - due: the end of the last slot that is due.
    init?(after done: Int64, due: Int64, _ memory: SeriesMemory, in db: Database) throws {
        let first = try max(done, ExpiredRows.times(in: db).summaries)
        guard let oldest = try Self.oldestEnd(after: first, notAfter: SummarySlot.end(notAfter: due), in: db) else {
            return nil
        }
        end = SummarySlot.end(notBefore: oldest)
        var sums: SummarySums?
        for chunk in try Self.chunks(from: end - SummarySlot.length, to: end, in: db) {
            guard let points = try StoredChunk.find(chunk.id, in: db) else { continue }
            if sums?.version != chunk.version {
                finish(sums)
                let series = try memory.series(of: chunk.version.service, isRemembered: false, in: db)
                sums = SummarySums(of: chunk.version, resource: points.resource, series)
            }
            if sums?.add(points) ?? false { sources.append(chunk.id) } else { leftOut.append(chunk.id) }
        }
        finish(sums)
    }

    private mutating func finish(_ sums: consuming SummarySums?) {
        guard let sums else { return }
        let (resource, (blobs, damaged)) = (sums.resource, sums.finish())
        if !blobs.isEmpty { summaries.append((resource, blobs, damaged)) }
    }

    /// Inserts the summaries and marks their sources.
    ///
    /// - Throws: if a source has already been summarized.
    func write(in db: Database) throws {
        let mark = try db.cachedStatement(sql: "UPDATE chunk SET summarized = ? WHERE id = ? AND summarized = 0")
        for (chunks, state) in [(sources, 1), (leftOut, 2)] {
            for chunk in chunks {
                try mark.execute(arguments: [state, chunk])
                guard db.changesCount == 1 else { throw DatabaseError(message: "a chunk was summarized twice at once") }
            }
        }
        for summary in summaries {
            for (index, blob) in summary.blobs.enumerated() {
                let damaged = index == 0 ? summary.damaged : 0
                try SummaryRows.insert(blob, of: summary.resource, end: end, damaged: damaged, in: db)
            }
        }
    }

    private static func oldestEnd(after kept: Int64, notAfter latest: Int64, in db: Database) throws -> Int64? {
        let statement = try db.cachedStatement(
            sql: """
                SELECT end_time FROM chunk INDEXED BY chunk_unsummarized
                WHERE tier = 1 AND summarized != 1 AND summarized = 0 AND end_time > ? AND end_time <= ?
                ORDER BY end_time LIMIT 1
                """)
        return try Int64.fetchOne(statement, arguments: [kept, latest])
    }

    /// Returns chunks of a slot, each with its sender's version. Chunks past the limits wait for the next step.
    private static func chunks(
        from: Int64, to: Int64, in db: Database
    ) throws -> [(id: Int64, version: SummarySums.Version)] {
        let others = SummarySums.Version.others.map(\.column)
        let statement = try db.cachedStatement(
            sql: """
                SELECT chunk.id, length(points), ifnull(service, '')\(others.map { ", ifnull(\($0), '')" }.joined())
                FROM chunk INDEXED BY chunk_unsummarized LEFT JOIN resource ON resource.id = chunk.resource_id
                WHERE tier = 1 AND summarized != 1 AND summarized = 0 AND end_time > ? AND end_time <= ?
                ORDER BY service\(others.map { ", \($0)" }.joined()), resource_id, end_time, chunk.id LIMIT \(RollUp.maxChunks)
                """)
        var chunks: [(Int64, SummarySums.Version)] = []
        var bytes = 0
        let rows = try Row.fetchCursor(statement, arguments: [from, to])
        while let row = try rows.next() {
            bytes += row[1]
            guard bytes <= RollUp.maxBytes || chunks.isEmpty else { break }
            chunks.append(
                (row[0], SummarySums.Version(service: row[2], values: others.indices.map { row[$0 + 3] })))
        }
        return chunks
    }
}

/// Adds up the points of all processes of one version of a service in a slot. The summary gets one point for each name and outcome
/// of their series. This type holds the chunks' bytes and one sum at a time, regardless of the number of series.
struct SummarySums {
    /// The values that all added senders share.
    struct Version: Equatable {
        /// The dimensions of ``values``.
        static let others = Dimension.ofSender.filter { $0.isInSummaries && $0 != .service }

        var service: String
        var values: [String]
    }

    private struct Key: Hashable {
        var name: Int
        var requests: RequestClass
    }

    private struct Point {
        let sum: Int
        let chunk: Int
        let entry: Range<Int>
    }

    let version: Version
    /// The row of the sender that represents all added senders.
    let resource: Int64
    private let known: KnownSeries
    /// Points that could not be read, now or when the source chunks were made.
    private var damaged = 0
    private var readers: [ByteReader] = []
    private var points: [Point] = []
    /// The first series of each sum. At least one series with points here lives as long as the summary.
    private var series: [Int64] = []
    private var sumOfKey: [Key: Int] = [:]
    private var sumOfSeries: [Int64: Int] = [:]

    init(of version: Version, resource: Int64, _ known: KnownSeries) {
        (self.version, self.resource, self.known) = (version, resource, known)
    }

    /// Adds the points of a chunk. Returns `false` and adds nothing if a point belongs to an unknown series, or to requests that
    /// only spans reported.
    mutating func add(_ chunk: StoredChunk) -> Bool {
        guard let bytes = chunk.bytes else {
            damaged &+= chunk.damaged &+ chunk.count
            return true
        }
        let count = points.count
        var entries = ChunkEntries(bytes)
        while let entry = entries.entry {
            guard let sum = sum(ofSeries: entries.series) else {
                points.removeSubrange(count...)
                return false
            }
            points.append(Point(sum: sum, chunk: readers.count, entry: entry))
            entries.next()
        }
        let found = points.count - count
        damaged &+= chunk.damaged &+ (chunk.count > found ? chunk.count - found : 0)
        readers.append(ByteReader(bytes))
        return true
    }

    /// Returns the sums as chunks, and the number of damaged points. There is at least one chunk if points are damaged.
    consuming func finish() -> (blobs: [ChunkBlob], damaged: Int) {
        var (blobs, statistics) = ([ChunkBlob](), RequestStatistics())
        var entryReader = EntryReader()
        points.sort { (series[$0.sum], $0.chunk) < (series[$1.sum], $1.chunk) }
        for (index, point) in points.enumerated() {
            if entryReader.read(point.entry, of: &readers[point.chunk]) {
                entryReader.add(to: &statistics)
            } else {
                damaged &+= 1
            }
            if index + 1 < points.count, points[index + 1].sum == point.sum { continue }
            if !statistics.isEmpty { Self.append(statistics, series: series[point.sum], to: &blobs) }
            statistics = RequestStatistics()
        }
        if blobs.isEmpty, damaged > 0 { blobs.append(ChunkBlob(.tokens)) }
        return (blobs, damaged)
    }

    private static func append(_ statistics: RequestStatistics, series: Int64, to blobs: inout [ChunkBlob]) {
        if blobs.isEmpty || blobs[blobs.count - 1].count >= ChunkWriter.maxPoints { blobs.append(ChunkBlob(.tokens)) }
        blobs[blobs.count - 1].append(statistics, series: series)
    }

    /// Returns the sum that counts a series' requests; `nil` for an unknown series or requests that only spans reported.
    private mutating func sum(ofSeries id: Int64) -> Int? {
        if let met = sumOfSeries[id] { return met }
        guard let (requests, name) = known.place(of: id).flatMap(known.entry), !requests.comesFromSpans else {
            return nil
        }
        let key = Key(name: name, requests: requests)
        let sum = sumOfKey[key] ?? series.count
        if sum == series.count { series.append(id) }
        series[sum] = min(series[sum], id)
        (sumOfKey[key], sumOfSeries[id]) = (sum, sum)
        return sum
    }
}

/// The table of summaries: see ``SummaryBuilder``.
enum SummaryRows {
    static func insert(_ blob: ChunkBlob, of resource: Int64, end: Int64, damaged: Int, in db: Database) throws {
        let statement = try db.cachedStatement(
            sql: """
                INSERT INTO summary (resource_id, end_time, count, damaged, checksum, points) VALUES (?, ?, ?, ?, ?, ?)
                """)
        let bytes = blob.bytes
        try statement.execute(arguments: [resource, end, blob.count, damaged, Int64(checksumOf: bytes), Data(bytes)])
    }

    /// Deletes summaries, at most ``SQLiteLimits/deletedRows``, and returns the number deleted.
    static func delete(until end: Int64, in db: Database) throws -> Int {
        try db.delete(from: "summary", where: "end_time <= ?", [end], atMost: SQLiteLimits.deletedRows)
    }
}
