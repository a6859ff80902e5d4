import GRDB
import MartletStorage
import MartletTelemetry

/// One step of rolling up: merges some chunks of a completed slot into chunks of the tier above. A reader reads and merges them, so
/// the writer has little work.
///
/// Points of all processes of a version go into one chunk of the version for each slot. A chunk is rolled up once. Late chunks are
/// merged into the chunk that the slot already has, unless that one is rolled up itself.
///
/// Requests known only from spans stay with their sender, because metrics that report them may come later, and may begin or end
/// within a slot. Spans before and after that time then go into separate chunks, and the earlier chunk gets the end of its last
/// source. So ``MetricsCover`` decides the same for a merged chunk as for its sources. After seven days this is decided, and they
/// join the hours of their version.
struct RollUp {
    /// The largest number of bytes of the chunks that one step merges. It limits the memory. ``Pass/maxChunks`` limits the time that
    /// the writer is busy.
    private static let maxBytes = 16 * 1024 * 1024

    private let pass: Pass
    private var sources: [Source] = []
    /// Chunks of versions whose points are in the results.
    private var replaced: [Int64] = []
    private var results: [Result] = []

    private struct Result {
        let owner: Owner
        let tier: Tier
        let end: Int64
        let blob: ChunkBlob
        let damaged: Int
    }

    /// Merges the chunks of the oldest slot that is due; `nil` if no chunk of the pass is due.
    ///
    /// - Parameter due: the end of the last slot that is due.
    init?(_ pass: Pass, due: Int64, _ memory: SeriesMemory, in db: Database) throws {
        guard let slot = try pass.oldestSlot(due: due, in: db) else { return nil }
        self.pass = pass
        for group in try Self.groups(pass, from: slot - pass.slots.length, to: slot, in: db) {
            sources += group.sources
            try merge(group, memory, in: db)
        }
    }

    /// Marks the sources as rolled up and inserts the merged chunks.
    ///
    /// - Throws: if a source has already been rolled up.
    func write(in db: Database) throws {
        for source in sources {
            try db.cachedStatement(sql: pass.ending(of: source)).execute(arguments: [source.id])
            guard db.changesCount == 1 else { throw DatabaseError(message: "a chunk was rolled up twice at once") }
        }
        let removal = try db.cachedStatement(sql: "DELETE FROM version_chunk WHERE id = ?")
        for id in replaced { try removal.execute(arguments: [id]) }
        for result in results { try write(result, in: db) }
    }

    private func write(_ result: Result, in db: Database) throws {
        switch result.owner {
        case .sender(let id, _):
            let row = ChunkRow(
                tier: result.tier, resource: id, end: result.end, isDerived: true, damaged: result.damaged,
                hasSpans: true)
            try row.insert(result.blob, in: db)
        case .version(let name):
            let id = try VersionRows.id(of: name, until: result.end, in: db)
            try VersionChunkRows.insert(
                result.blob, of: id, result.tier, end: result.end, damaged: result.damaged, in: db)
        case .nobody: break
        }
    }

    private mutating func merge(_ group: Group, _ memory: SeriesMemory, in db: Database) throws {
        guard group.owner != .nobody else { return }
        var merge = ChunkMerge()
        let decision = try SpanDecision(pass == .hoursOfSpans ? group : nil, memory, in: db)
        for source in group.sources {
            guard let chunk = try StoredChunk.find(source.id, in: pass.table, db) else { continue }
            merge.add(try decision?.counted(chunk, in: db) ?? chunk)
        }
        if case .version(let name) = group.owner {
            for id in try VersionChunkRows.open(of: name, group.tier, end: group.end, in: db) {
                guard let chunk = try StoredChunk.find(id, in: .versions, db) else { continue }
                replaced.append(id)
                merge.add(chunk)
            }
        }
        repeat {
            let blob = merge.next(maxPoints: ChunkWriter.maxPoints)
            let isLast = blob.count < ChunkWriter.maxPoints
            let damaged = isLast ? merge.damaged : 0
            guard blob.count > 0 || damaged > 0 else { return }
            results.append(
                Result(owner: group.owner, tier: group.tier, end: group.end, blob: blob, damaged: damaged))
            if isLast { return }
        } while true
    }

    // MARK: Finding chunks that are due

    struct Source {
        let id: Int64
        let isDerived: Bool
    }

    enum Owner: Hashable {
        /// A sender, and a section of its spans: see ``MetricsCover/section(of:)``.
        case sender(Int64, section: Int)
        case version(VersionName)
        /// A sender without a row. Its points were never counted.
        case nobody
    }

    struct Group {
        let owner: Owner
        let tier: Tier
        /// The end of the merged chunk.
        var end: Int64
        var sources: [Source] = []
    }

    /// Groups chunks by their new owner. Chunks past the limits wait for the next step.
    private static func groups(_ pass: Pass, from: Int64, to: Int64, in db: Database) throws -> [Group] {
        var groups: [Group] = []
        var indexes: [Owner: Int] = [:]
        var (count, bytes) = (0, 0)
        var sections = SpanSections(to: to)
        let rows = try Row.fetchCursor(db.cachedStatement(sql: pass.chunks), arguments: [from, to])
        while let row = try rows.next() {
            bytes += row["bytes"]
            guard bytes <= maxBytes || count == 0 else { break }
            count += 1
            let owner = try pass.owner(of: row, &sections, in: db)
            let index = indexes[owner] ?? groups.count
            if index == groups.count {
                indexes[owner] = index
                groups.append(Group(owner: owner, tier: pass.target, end: to))
            }
            groups[index].sources.append(Source(id: row["id"], isDerived: row["derived"]))
            if case .sender(_, let section) = owner {
                groups[index].end = sections.isLast(section) ? to : row["end_time"]
            }
        }
        return groups
    }
}

extension RollUp {
    /// The chunks that are rolled up together. The first four are looked for every ten seconds, the others once an hour.
    enum Pass: CaseIterable {
        /// Points as they came, of intervals below a minute.
        case points
        /// Points as they came, of intervals of a minute and more.
        case longPoints
        /// Minutes of senders with spans, and those of stores from before there were minutes of versions.
        case minutesOfSenders
        case minutesOfVersions
        /// Points as they came, of intervals of an hour and more, and hours of stores from before there were hours of versions.
        case hours
        /// Hours of senders with spans. Due once they are as old as a process may be silent.
        case hoursOfSpans
        /// Due once nothing joins the hours of a version any more but what comes late.
        case hoursOfVersions

        static let frequent: [Pass] = [.points, .longPoints, .minutesOfSenders, .minutesOfVersions]
        static let hourly: [Pass] = [.hours, .hoursOfSpans, .hoursOfVersions]

        var table: ChunkTable { self == .minutesOfVersions || self == .hoursOfVersions ? .versions : .senders }

        private var tier: Tier {
            switch self {
            case .points: .fine
            case .longPoints, .minutesOfSenders, .minutesOfVersions: .minute
            case .hours, .hoursOfSpans, .hoursOfVersions: .hour
            }
        }

        /// The tier of the merged chunks.
        var target: Tier {
            switch self {
            case .points, .longPoints: .minute
            case .minutesOfSenders, .minutesOfVersions, .hours, .hoursOfSpans: .hour
            case .hoursOfVersions: .day
            }
        }

        /// The tier whose slots are rolled up at once.
        var slots: Tier { target }

        /// The largest number of chunks that one step merges. The sources of the hourly passes lie far apart in a large file, and most
        /// are deleted, so each costs some pages. Their number is that of the hours of three days, so that few days are merged twice.
        fileprivate var maxChunks: Int { Self.hourly.contains(self) ? 72 : 256 }

        /// The wait between the end of a slot and its roll-up, in nanoseconds.
        var delay: Int64 { target == .minute ? Tier.fine.rollUpDelay : Tier.minute.rollUpDelay }

        private var condition: String {
            let ofTier = "c.tier = \(tier.rawValue) AND c.rolled = 0"
            switch self {
            case .points, .minutesOfVersions, .hoursOfVersions: return ofTier
            case .longPoints: return ofTier + " AND NOT c.derived"
            case .minutesOfSenders: return ofTier + " AND c.derived"
            case .hours: return ofTier + " AND c.spans != \(ChunkRow.spans)"
            case .hoursOfSpans: return ofTier + " AND c.spans = \(ChunkRow.spans)"
            }
        }

        fileprivate func oldestSlot(due: Int64, in db: Database) throws -> Int64? {
            let statement = try db.cachedStatement(
                sql: """
                    SELECT end_time FROM \(table.rawValue) c WHERE \(condition) AND end_time <= ?
                    ORDER BY end_time LIMIT 1
                    """)
            return try Int64.fetchOne(statement, arguments: [slots.slotEnd(notAfter: due)]).map(slots.slotEnd(of:))
        }

        /// The statement for the chunks of a slot, with the names of their version.
        fileprivate var chunks: String {
            let (columns, names) =
                table == .senders
                ? ("c.resource_id AS owner, c.derived AS derived, c.spans AS spans", "resource")
                : ("c.version_id AS owner, 1 AS derived, 0 AS spans", "version")
            return """
                SELECT c.id AS id, length(c.points) AS bytes, c.end_time AS end_time, \(columns),
                    n.service AS service, n.version AS version, n.environment AS environment
                FROM \(table.rawValue) c LEFT JOIN \(names) n ON n.id = c.\(table.owner)
                WHERE \(condition) AND c.end_time > ? AND c.end_time <= ?
                ORDER BY owner, c.end_time, c.id LIMIT \(maxChunks)
                """
        }

        /// Returns the owner of the merged chunk for a row of ``chunks``.
        fileprivate func owner(of row: Row, _ sections: inout SpanSections, in db: Database) throws -> Owner {
            guard let service: String = row["service"] else { return .nobody }
            if row["spans"] == ChunkRow.spans, self != .hoursOfSpans {
                return .sender(row["owner"], section: try sections.section(of: row["owner"], row["end_time"], in: db))
            }
            return .version(VersionName(service: service, version: row["version"], environment: row["environment"]))
        }

        /// Returns the statement that marks or deletes a source. Nothing but its version's hour shows what was merged into hours of a
        /// sender.
        fileprivate func ending(of source: Source) -> String {
            switch self {
            case .hours where source.isDerived, .hoursOfSpans: "DELETE FROM chunk WHERE id = ? AND rolled = 0"
            case .points, .longPoints, .hours: mark(.inVersion)
            case .minutesOfSenders, .minutesOfVersions, .hoursOfVersions: mark(.rolled)
            }
        }

        private func mark(_ state: ChunkState) -> String {
            let new =
                table == .senders
                ? "iif(spans = \(ChunkRow.spans), \(ChunkState.rolled.rawValue), \(state.rawValue))"
                : "\(state.rawValue)"
            return "UPDATE \(table.rawValue) SET rolled = \(new) WHERE id = ? AND rolled = 0"
        }
    }
}

/// The sections of senders of spans in a slot. The chunks of a sender are asked for one after the other.
struct SpanSections {
    private let end: Int64
    private var sender: Int64?
    private var cover: MetricsCover?

    /// - Parameter end: the end of the slot.
    init(to end: Int64) { self.end = end }

    mutating func section(of sender: Int64, _ end: Int64, in db: Database) throws -> Int {
        if self.sender != sender {
            (self.sender, cover) = (sender, try StatisticsCoverRows.cover(ofSpansOf: sender, in: db))
        }
        return cover?.section(of: end) ?? 0
    }

    /// Whether a section of the latest sender reaches the end of the slot.
    func isLast(_ section: Int) -> Bool { section == cover?.section(of: end) ?? 0 }
}

/// Decides which requests known only from spans count in the hours of a version: those that no metrics reported.
private struct SpanDecision {
    private let series: KnownSeries

    /// Creates `nil` without a group.
    init?(_ group: RollUp.Group?, _ memory: SeriesMemory, in db: Database) throws {
        guard case .version(let name) = group?.owner else { return nil }
        series = try memory.series(of: name.service, isRemembered: false, in: db)
    }

    /// Returns the chunk without the points that metrics reported as well.
    func counted(_ chunk: StoredChunk, in db: Database) throws -> StoredChunk {
        guard case .sender(let id) = chunk.owner, let bytes = chunk.bytes,
            let cover = try StatisticsCoverRows.cover(ofSpansOf: id, in: db)
        else { return chunk }
        var (entries, blob, found) = (ChunkEntries(bytes), ChunkBlob(.tokens), 0)
        while let entry = entries.entry {
            found += 1
            let requests = series.place(of: entries.series).flatMap(series.entry)?.requests
            let isCovered = requests.map { $0.comesFromSpans && cover.contains($0, end: chunk.end) } ?? false
            if !isCovered { blob.append(entry: entries.bytes[entry], series: entries.series) }
            entries.next()
        }
        var counted = chunk
        counted.bytes = blob.bytes
        counted.count = blob.count + max(0, chunk.count - found)
        return counted
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
