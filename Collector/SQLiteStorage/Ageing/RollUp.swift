import GRDB
import MartletStorage
import MartletTelemetry

/// One step of rolling up: merges some chunks of a completed slot into chunks of the tier above. A reader reads and merges them, so
/// the writer has little work.
///
/// A chunk is rolled up once. Late chunks become another chunk of the same slot, so nothing is counted twice.
///
/// Metrics that report the requests of spans may begin or end within a slot. Spans before and after that time then go into
/// separate chunks, and the earlier chunk gets the end of its last source. So ``MetricsCover`` decides the same for a merged
/// chunk as for its sources.
struct RollUp {
    /// The largest number of chunks that one step merges or summarizes, and the largest number of their bytes. They limit the
    /// memory and the time that the writer is busy.
    static let maxChunks = 512
    static let maxBytes = 16 * 1024 * 1024

    private var sources: [Int64] = []
    private var results: [(row: ChunkRow, blob: ChunkBlob)] = []

    /// Merges the chunks of the oldest slot that is due; `nil` if nothing of `tier` is due.
    ///
    /// - Parameter due: the end of the last slot that is due.
    init?(_ tier: Tier, due: Int64, in db: Database) throws {
        guard let target = tier.next, let slot = try Self.oldestSlot(of: tier, target, due: due, in: db) else {
            return nil
        }
        for group in try Self.groups(of: tier, from: slot - target.length, to: slot, in: db) {
            try merge(group, to: target, in: db)
        }
    }

    /// Marks the sources as rolled up and inserts the merged chunks.
    ///
    /// - Throws: if a source has already been rolled up.
    func write(in db: Database) throws {
        let mark = try db.cachedStatement(sql: "UPDATE chunk SET rolled = 1 WHERE id = ? AND rolled = 0")
        for source in sources {
            try mark.execute(arguments: [source])
            guard db.changesCount == 1 else { throw DatabaseError(message: "a chunk was rolled up twice at once") }
        }
        for result in results { try result.row.insert(result.blob, in: db) }
    }

    private mutating func merge(_ group: Group, to target: Tier, in db: Database) throws {
        var merge = ChunkMerge()
        for id in group.chunks { if let chunk = try StoredChunk.find(id, in: db) { merge.add(chunk) } }
        sources += group.chunks
        repeat {
            let blob = merge.next(maxPoints: ChunkWriter.maxPoints)
            let isLast = blob.count < ChunkWriter.maxPoints
            let damaged = isLast ? merge.damaged : 0
            guard blob.count > 0 || damaged > 0 else { return }
            let row = ChunkRow(
                tier: target, resource: group.resource, end: group.end, isDerived: true, damaged: damaged)
            results.append((row, blob))
            if isLast { return }
        } while true
    }

    // MARK: Finding chunks that are due

    private struct Group {
        let resource: Int64
        /// See ``MetricsCover/section(of:)``.
        let section: Int
        /// The end of the group's merged chunk.
        var end: Int64
        var chunks: [Int64] = []
    }

    private static func oldestSlot(
        of tier: Tier, _ target: Tier, due: Int64, in db: Database
    ) throws -> Int64? {
        let statement = try db.cachedStatement(
            sql: """
                SELECT end_time FROM chunk WHERE tier = ? AND rolled = 0 AND end_time <= ? ORDER BY end_time LIMIT 1
                """)
        let latest = target.slotEnd(notAfter: due)
        return try Int64.fetchOne(statement, arguments: [tier.rawValue, latest]).map(target.slotEnd(of:))
    }

    /// Groups chunks by sender and section. Chunks past the limits wait for the next step.
    private static func groups(of tier: Tier, from: Int64, to: Int64, in db: Database) throws -> [Group] {
        let statement = try db.cachedStatement(
            sql: """
                SELECT id, resource_id, length(points), end_time FROM chunk
                WHERE tier = ? AND rolled = 0 AND end_time > ? AND end_time <= ?
                ORDER BY resource_id, end_time, id LIMIT \(maxChunks)
                """)
        var groups: [Group] = []
        var cover: MetricsCover?
        var (count, bytes) = (0, 0)
        let rows = try Row.fetchCursor(statement, arguments: [tier.rawValue, from, to])
        while let row = try rows.next() {
            bytes += row[2]
            guard bytes <= maxBytes || count == 0 else { return withoutLastOfMany(groups) }
            count += 1
            let (id, resource, end): (Int64, Int64, Int64) = (row[0], row[1], row[3])
            if groups.last?.resource != resource {
                cover = try StatisticsCoverRows.cover(ofSpansOf: resource, in: db)
            }
            let section = cover?.section(of: end) ?? 0
            if groups.last?.resource != resource || groups.last?.section != section {
                groups.append(Group(resource: resource, section: section, end: end))
            }
            let isLast = section == cover?.section(of: to) ?? 0
            groups[groups.count - 1].end = isLast ? to : end
            groups[groups.count - 1].chunks.append(id)
        }
        return count < maxChunks ? groups : withoutLastOfMany(groups)
    }

    /// Drops the last of several groups, because some of its chunks may be past the limit. Keeping it would be correct, but
    /// would make one more chunk than needed.
    private static func withoutLastOfMany(_ groups: [Group]) -> [Group] {
        groups.count > 1 ? groups.dropLast() : groups
    }
}

/// Merges many chunks into one, series by series. It keeps only their bytes and one point in memory, regardless of the number
/// of series.
struct ChunkMerge {
    private struct Source {
        var entries: ChunkEntries
        var reader: ByteReader
        /// Entries left to read.
        var left: Int

        mutating func add(
            _ series: Int64, to statistics: inout RequestStatistics, reading entryReader: inout EntryReader,
            _ damaged: inout Int
        ) {
            while let entry = entries.entry, entries.series == series {
                if entryReader.read(entry, of: &reader) { entryReader.add(to: &statistics) } else { damaged += 1 }
                left -= 1
                entries.next()
            }
        }
    }

    /// Points that could not be read, now or when the source chunks were made.
    private(set) var damaged = 0
    private var sources: [Source] = []
    private var entryReader = EntryReader()

    mutating func add(_ chunk: StoredChunk) {
        damaged += chunk.damaged
        guard let bytes = chunk.bytes else {
            damaged += chunk.count
            return
        }
        sources.append(Source(entries: ChunkEntries(bytes), reader: ByteReader(bytes), left: chunk.count))
    }

    /// Returns the next points, ordered by series, at most `maxPoints` of them. Empty at the end.
    mutating func next(maxPoints: Int) -> ChunkBlob {
        var blob = ChunkBlob(.tokens)
        while blob.count < maxPoints, let series = nextSeries() { append(series, to: &blob) }
        guard blob.count < maxPoints else { return blob }
        damaged += sources.reduce(0) { $0 + max(0, $1.left) }
        sources = []
        return blob
    }

    private func nextSeries() -> Int64? {
        var next: Int64?
        for source in sources where source.entries.entry != nil {
            next = min(next ?? .max, source.entries.series)
        }
        return next
    }

    /// Appends the sum of a series. If the series has only one point, its bytes are copied unchanged.
    private mutating func append(_ series: Int64, to blob: inout ChunkBlob) {
        let only = onlySource(of: series)
        if let only, let entry = sources[only].entries.entry {
            var rest = sources[only].entries
            rest.next()
            if rest.entry == nil || rest.series != series {
                blob.append(entry: sources[only].entries.bytes[entry], series: series)
                sources[only].left -= 1
                sources[only].entries = rest
                return
            }
        }
        var statistics = RequestStatistics()
        for index in sources.indices { sources[index].add(series, to: &statistics, reading: &entryReader, &damaged) }
        if !statistics.isEmpty { blob.append(statistics, series: series) }
    }

    /// Returns the index of the only source whose current entry belongs to the series; `nil` if several do.
    private func onlySource(of series: Int64) -> Int? {
        var found: Int?
        for (index, source) in sources.enumerated() where source.entries.entry != nil && source.entries.series == series
        {
            guard found == nil else { return nil }
            found = index
        }
        return found
    }
}
