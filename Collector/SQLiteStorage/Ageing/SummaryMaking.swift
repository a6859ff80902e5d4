import GRDB
import MartletStorage
import MartletTelemetry

/// One step of making summaries: some chunks of minutes in a slot that is over are added up by endpoint and outcome, over all
/// processes of a version of a service. A report that asks for no finer figures reads the summary instead, which has a fraction of
/// their points. A reader makes it; the writer's part is short.
///
/// A chunk is summarized once, and late chunks make another summary of the same slot, so nothing counts twice. They wait for the
/// next hour, because a sender that is always late would otherwise have a summary for each of its chunks. The chunks stay, and are
/// rolled up to hours as if there were no summary.
///
/// Chunks with requests that are known from spans alone are left out: metrics that come later decide whether each of them counts
/// (``MetricsCover``).
struct SummaryMaking {
    /// Chunks that one step adds up at most, and their bytes. They limit the memory, and the time for which the writer is busy.
    static let maxChunks = 512
    static let maxBytes = 16 * 1024 * 1024

    private let end: Int64
    private var sources: [Int64] = []
    private var leftOut: [Int64] = []
    private var summaries: [(resource: Int64, blobs: [ChunkBlob], damaged: Int)] = []

    /// Adds up chunks of the oldest slot that is due; `nil` if nothing is due.
    ///
    /// - Parameters:
    ///   - done: slots that end by then are left alone, and so are those whose summaries are not kept any more.
    ///   - due: slots that end after it are left alone.
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
    /// - Throws: if a source has been summarized in the meantime.
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

    /// Returns chunks of a slot by version. Those past the limits are left for the next step.
    private static func chunks(
        from: Int64, to: Int64, in db: Database
    ) throws -> [(id: Int64, version: SummarySums.Version)] {
        let statement = try db.cachedStatement(
            sql: """
                SELECT chunk.id, length(points), ifnull(service, ''), ifnull(version, ''), ifnull(environment, '')
                FROM chunk INDEXED BY chunk_unsummarized LEFT JOIN resource ON resource.id = chunk.resource_id
                WHERE tier = 1 AND summarized != 1 AND summarized = 0 AND end_time > ? AND end_time <= ?
                ORDER BY service, version, environment, resource_id, end_time, chunk.id LIMIT \(maxChunks)
                """)
        var chunks: [(Int64, SummarySums.Version)] = []
        var bytes = 0
        let rows = try Row.fetchCursor(statement, arguments: [from, to])
        while let row = try rows.next() {
            bytes += row[1]
            guard bytes <= maxBytes || chunks.isEmpty else { break }
            chunks.append((row[0], SummarySums.Version(service: row[2], version: row[3], environment: row[4])))
        }
        return chunks
    }
}
