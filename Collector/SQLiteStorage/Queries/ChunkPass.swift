import GRDB
import MartletStorage
import MartletTelemetry

/// A pass over chunks for the sums of many queries. Sums of the same chunks share one pass, which reads and looks up each point
/// once. A second pass for some of the groups reuses the chunks and the look-ups.
struct ChunkPass {
    /// The chunks to read.
    private let ranges: [ChunkRange]
    /// The sums that share the pass.
    private var indexes: [Int]
    /// The column of each sum's target among the targets of a series.
    private var columns: [Int]
    private var entryReader = EntryReader()
    /// The targets for each class of senders. A class contains the senders that no sum distinguishes.
    private var targets: [SeriesTargets] = []
    private var classOfSenders: [[TargetLookup.SenderClass?]: Int] = [:]
    private var classOfOwner: [ChunkOwner: Int] = [:]
    private var read: ReadChunks

    private init(_ ranges: [ChunkRange], _ indexes: [Int], isKeeping: Bool) {
        (self.ranges, self.indexes, columns) = (ranges, indexes, Array(indexes.indices))
        read = ReadChunks(isKeeping: isKeeping)
    }

    /// Adds all points to the sums.
    ///
    /// - Parameter isKeeping: whether a second pass may follow.
    /// - Returns: the passes.
    static func add(to sums: inout [GroupSums], isKeeping: Bool = false, in db: Database) throws -> [ChunkPass] {
        var (rest, passes) = (Array(sums.indices), [ChunkPass]())
        while let first = rest.first {
            let ranges = sums[first].ranges
            passes.append(ChunkPass(ranges, rest.filter { sums[$0].ranges == ranges }, isKeeping: isKeeping))
            rest.removeAll { sums[$0].ranges == ranges }
        }
        for pass in passes.indices { try passes[pass].add(to: &sums, in: db) }
        return passes
    }

    /// Adds the points of selected groups again.
    ///
    /// - Parameters:
    ///   - sources: the index of the sums from which each sum's groups were selected; `nil` for groups that need a new look-up.
    ///   - passes: the passes that made these sums.
    static func add(
        toSelected sums: inout [GroupSums], of sources: [Int?], after passes: [ChunkPass], in db: Database
    ) throws {
        var rest = Set(sums.indices)
        for pass in passes {
            guard let chunks = pass.read.chunks else { continue }
            var second = pass
            second.indexes = sums.indices.filter {
                sums[$0].ranges == pass.ranges && sources[$0].map(pass.indexes.contains) ?? false
            }
            second.columns = second.indexes.map { sum in
                sources[sum].flatMap { pass.indexes.firstIndex(of: $0) } ?? 0
            }
            rest.subtract(second.indexes)
            if second.indexes.isEmpty { continue }
            for chunk in chunks { try second.add(chunk, to: &sums, in: db) }
        }
        var unread = rest.sorted().map { sums[$0] }
        _ = try add(to: &unread, in: db)
        for (index, sum) in zip(rest.sorted(), unread) { sums[index] = sum }
    }

    private mutating func add(to sums: inout [GroupSums], in db: Database) throws {
        do {
            for range in ranges {
                let slices = try ChunkSlices(of: range, in: db)
                while let chunks = try slices.next(sender: { try sender($0, of: &sums, in: db) }) {
                    try StoredChunk.forEach(chunks, in: range.table, db) {
                        try add($0, to: &sums, in: db)
                    }
                }
            }
        } catch is TooManyGroups {
            // All of them have failed, so there is nothing to read.
        }
    }

    /// Returns the class of an owner of chunks in one of the sums that count it; `nil` if no sum does.
    private func sender(
        _ owner: ChunkOwner, of sums: inout [GroupSums], in db: Database
    ) throws -> TargetLookup.SenderClass? {
        for index in indexes {
            if let sender = try sums[index].senderClass(of: owner, in: db) { return sender }
        }
        return nil
    }

    private mutating func add(_ chunk: StoredChunk, to sums: inout [GroupSums], in db: Database) throws {
        let counting = try indexes.indices.filter { try sums[indexes[$0]].begin(chunk, in: db) }
        if counting.isEmpty { return try check(sums) }
        var kept = ReadChunks.Chunk(
            stored: chunk, senders: try classOfSenders(of: chunk.owner, &sums, in: db), missing: chunk.count)
        if let bytes = chunk.bytes {
            var (entries, reader) = (ChunkEntries(bytes), ByteReader(bytes))
            while let entry = entries.entry {
                let series = entries.series
                let found =
                    try targets[kept.senders].find(series) ?? meet(series, kept.senders, &sums, in: db)
                if try add(entry, of: &reader, found, kept.senders, counting, to: &sums, in: db),
                    read.chunks != nil
                {
                    kept.points.append(ReadChunks.Point(found: found, entry: entry))
                }
                entries.next()
                kept.missing -= 1
            }
        }
        for sum in counting where kept.missing > 0 { sums[indexes[sum]].addDamaged(kept.missing) }
        read.add(kept)
    }

    /// Adds a point to the sums that have its group. Returns `false` if none has.
    ///
    /// - Parameters:
    ///   - found: the index of its series' targets.
    ///   - counting: the sums that count points of the chunk.
    private mutating func add(
        _ entry: Range<Int>, of reader: inout ByteReader, _ found: Int, _ senders: Int, _ counting: [Int],
        to sums: inout [GroupSums], in db: Database
    ) throws -> Bool {
        var isRead: Bool?
        for sum in counting {
            let index = indexes[sum]
            guard let known = targets[senders][found, columns[sum]], let target = sums[index].counted(known),
                try sums[index].counts(target.requests, in: db)
            else { continue }
            let isEntry = isRead ?? entryReader.read(entry, of: &reader)
            isRead = isEntry
            if isEntry {
                sums[index].add(entryReader, to: target)
            } else {
                sums[index].addDamaged(1)
            }
        }
        return isRead != nil
    }

    /// Adds a chunk read by the first pass.
    private mutating func add(_ chunk: ReadChunks.Chunk, to sums: inout [GroupSums], in db: Database) throws {
        let counting = try indexes.indices.filter { try sums[indexes[$0]].begin(chunk.stored, in: db) }
        if let bytes = chunk.stored.bytes, !counting.isEmpty {
            var reader = ByteReader(bytes)
            for point in chunk.points {
                _ = try add(
                    point.entry, of: &reader, point.found, chunk.senders, counting, to: &sums, in: db)
            }
        }
        for sum in counting where chunk.missing > 0 { sums[indexes[sum]].addDamaged(chunk.missing) }
    }

    /// Looks up a series in all sums and returns the index of its targets.
    private mutating func meet(
        _ series: Int64, _ senders: Int, _ sums: inout [GroupSums], in db: Database
    ) throws -> Int {
        let found = try indexes.map { try sums[$0].target(ofSeries: series, in: db) }
        return targets[senders].insert(found, of: series)
    }

    private mutating func classOfSenders(
        of owner: ChunkOwner, _ sums: inout [GroupSums], in db: Database
    ) throws -> Int {
        if let known = classOfOwner[owner] { return known }
        let senders = try indexes.map { try sums[$0].senderClass(of: owner, in: db) }
        let index = classOfSenders[senders] ?? targets.count
        if index == targets.count { targets.append(SeriesTargets()) }
        (classOfSenders[senders], classOfOwner[owner]) = (index, index)
        return index
    }

    /// Throws if all sums have failed.
    private func check(_ sums: [GroupSums]) throws(TooManyGroups) {
        let failures = indexes.compactMap { sums[$0].failure }
        if let first = failures.first, failures.count == indexes.count { throw first }
    }
}

/// The chunks of a range in the fastest order to read: one slice of time after the other, and within a slice by service and
/// sender. The sums that receive the points then stay in the processor's caches. With chunks ordered only by time, a report of
/// a month takes a third longer.
struct ChunkSlices {
    /// The largest number of chunks of a slice. They are held at once and take 24 bytes each.
    static let maxChunks = 100_000

    private let rows: RowCursor
    private let table: ChunkTable

    init(of range: ChunkRange, in db: Database) throws {
        table = range.table
        rows = try Row.fetchCursor(
            db,
            sql: """
                SELECT id, \(table.owner) FROM \(table.rawValue) WHERE tier = ? AND rolled = ?
                    AND end_time > ? AND end_time <= ?\(range.contents == .delivered ? " AND NOT derived" : "")
                ORDER BY end_time
                """, arguments: [range.tier.rawValue, range.state.rawValue, range.from, range.to])
    }

    /// Returns the next slice, as the numbers of its chunks; `nil` at the end.
    ///
    /// - Parameter sender: returns the class of an owner; `nil` leaves out the owner's chunks.
    func next(sender: (_ owner: ChunkOwner) throws -> TargetLookup.SenderClass?) throws -> [Int64]? {
        var chunks: [(id: Int64, sender: TargetLookup.SenderClass)] = []
        while chunks.count < Self.maxChunks, let row = try rows.next() {
            if let sender = try sender(table.owner(row[1])) { chunks.append((row[0], sender)) }
        }
        guard !chunks.isEmpty else { return nil }
        return chunks.sorted { ($0.sender, $0.id) < ($1.sender, $1.id) }.map(\.id)
    }
}

extension ChunkRange {
    /// The table of its chunks.
    fileprivate var table: ChunkTable { contents == .ofVersions ? .versions : .senders }
}

/// The chunks that the first pass over a transaction's points has read. The second pass looks up no series and finds each point by
/// its position.
struct ReadChunks {
    /// The largest number of bytes kept, enough for a few hours. Past it, chunks are read twice.
    static let maxBytes = 32 << 20

    /// A point that counts for at least one of the sums.
    struct Point {
        /// The index of its series' targets in ``SeriesTargets``.
        let found: Int
        /// Its range in the chunk's bytes.
        let entry: Range<Int>
    }

    struct Chunk {
        let stored: StoredChunk
        /// The class of its sender, by which targets are found.
        let senders: Int
        var points: [Point] = []
        /// Points of the chunk that were not found in its bytes.
        var missing = 0
    }

    /// The chunks in reading order; `nil` if they are not kept.
    private(set) var chunks: [Chunk]?
    private var bytes = 0

    init(isKeeping: Bool) {
        chunks = isKeeping ? [] : nil
    }

    /// Adds a chunk, unless nothing in it counts. Past the limit, all chunks are dropped.
    mutating func add(_ chunk: Chunk) {
        guard !chunk.points.isEmpty || chunk.missing > 0 || chunk.stored.damaged > 0 else { return }
        bytes += (chunk.stored.bytes?.count ?? 0) + chunk.points.count * MemoryLayout<Point>.stride
        if bytes <= Self.maxBytes { chunks?.append(chunk) } else { chunks = nil }
    }
}

/// The targets of each series that was found, one for each of the sums that share a pass. Searches are fast if they ask for series
/// in ascending order repeatedly, as chunks do.
struct SeriesTargets {
    /// The number of series compared after the last match, before a full search.
    private static let reach = 8

    /// The series in ascending order.
    private var series: [Int64] = []
    /// The index of each series' first target.
    private var first: [Int] = []
    /// The targets in the order in which their series were added; `nil` for a series that is left out.
    private var targets: [SeriesTarget?] = []
    /// The index after the series found last.
    private var next = 0

    /// The target of a found series in the sum with this number.
    subscript(found: Int, sum: Int) -> SeriesTarget? { targets[found + sum] }

    /// Returns the index of a series' targets; `nil` if the series was not added.
    mutating func find(_ wanted: Int64) -> Int? {
        var index = next
        let end = min(next + Self.reach, series.count)
        while index < end, series[index] != wanted { index += 1 }
        if index == end { index = series.sortedIndex { $0 < wanted } }
        guard index < series.count, series[index] == wanted else { return nil }
        next = index + 1
        return first[index]
    }

    /// - Parameter new: a series that ``find(_:)`` did not find.
    /// - Returns: the index of its targets.
    mutating func insert(_ added: [SeriesTarget?], of new: Int64) -> Int {
        let index = series.sortedIndex { $0 < new }
        series.insert(new, at: index)
        first.insert(targets.count, at: index)
        targets += added
        next = index + 1
        return first[index]
    }
}
