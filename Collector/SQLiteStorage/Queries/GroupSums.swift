import GRDB
import MartletStorage
import MartletTelemetry

/// The sums of groups. It goes through chunks once and adds each point to its group, from the bytes as they are read. It holds
/// one chunk, the groups, and an entry for each series that it met. If the groups' sketches take more memory than the limit, each
/// step of coarseness halves them, and doubles the error of quantiles.
struct GroupSums {
    private(set) var damagedPoints = 0
    /// The groups that were met, including empty ones; with a grid, each group's slots in the order of time.
    private(set) var sums: [RequestGroup]
    private let grid: SlotGrid?
    /// Whether a group that was not met before is added.
    private let isGrowing: Bool
    private var index: GroupIndex
    private var lookup: TargetLookup
    private var entryReader = EntryReader()
    /// The cover of each sender's spans, read when the first series of spans is met.
    private var covers: [Int64: MetricsCover]?
    private let maxSketchBytes: Int
    private var sketchBytes = 0
    /// The scale of all sketches at most.
    private var scale = ExponentialHistogram.defaultScale

    /// Creates sums of all groups, `limits.maxGroups` at most; each slot of a group counts as one.
    init(by dimensions: [Dimension], _ filter: RequestFilter, _ limits: SQLiteLimits, in grid: SlotGrid? = nil) {
        index = GroupIndex(maxGroups: limits.maxGroups, slots: grid?.count ?? 1)
        maxSketchBytes = limits.maxSketchBytes
        lookup = TargetLookup(by: dimensions, filter)
        (sums, self.grid, isGrowing) = ([], grid, true)
    }

    /// Creates sums of these groups alone, in slots.
    init(
        by dimensions: [Dimension], _ filter: RequestFilter, of groups: [RequestGroup], _ limits: SQLiteLimits,
        in grid: SlotGrid
    ) {
        index = GroupIndex(of: groups)
        maxSketchBytes = limits.maxSketchBytes
        lookup = TargetLookup(by: dimensions, filter)
        sums = groups.flatMap { Array(repeating: RequestGroup(values: $0.values), count: grid.count) }
        (self.grid, isGrowing) = (grid, false)
    }

    /// The slots of each group.
    var slots: [[RequestGroup]] {
        guard let grid, grid.count > 0 else { return [] }
        return stride(from: 0, to: sums.count, by: grid.count).map { Array(sums[$0..<$0 + grid.count]) }
    }

    mutating func add(_ range: ChunkRange, in db: Database) throws {
        let slices = try ChunkSlices(of: range, in: db)
        while let chunks = try slices.next(sender: { try lookup.senderClass(ofResource: $0, in: db) }) {
            try StoredChunk.forEach(chunks.map(\.id), in: db) { try add($1, of: chunks[$0].sender, in: db) }
        }
    }

    private mutating func add(_ chunk: StoredChunk, of sender: TargetLookup.SenderClass, in db: Database) throws {
        damagedPoints += chunk.damaged
        guard let bytes = chunk.bytes else {
            damagedPoints += chunk.count
            return
        }
        var entries = ChunkEntries(bytes)
        var reader = ByteReader(bytes)
        var read = 0
        let end = UnixNanoseconds(clamping: chunk.end)
        let slot = grid?.index(of: end) ?? 0
        while let entry = entries.entry {
            if let target = try target(ofSeries: entries.series, sender: sender, in: db),
                try !isCoveredByMetrics(target.requests, in: chunk, db)
            {
                let sum = target.group * (grid?.count ?? 1) + slot
                let before = sums[sum].sketchBytes
                let isRead = sums[sum].add(target.requests) { entryReader.add(entry, of: &reader, to: &$0) }
                if isRead {
                    sums[sum].latestEnd = max(sums[sum].latestEnd, end)
                    sketchBytes += sums[sum].sketchBytes - before
                    if sketchBytes > maxSketchBytes { makeCoarser() }
                    read += 1
                }
            } else {
                read += 1
            }
            entries.next()
        }
        damagedPoints += max(0, chunk.count - read)
    }

    /// Halves the sketches, as often as necessary. At the coarsest scale they take no memory to speak of.
    private mutating func makeCoarser() {
        while sketchBytes > maxSketchBytes, scale > ExponentialHistogram.scales.lowerBound {
            scale -= 1
            for sum in sums.indices { sums[sum].lowerScale(to: scale) }
            sketchBytes = sums.reduce(0) { $0 + $1.sketchBytes }
        }
    }

    /// Whether the requests come from spans and the same sender's metrics cover the chunk's time.
    private mutating func isCoveredByMetrics(_ requests: RequestClass, in chunk: StoredChunk, _ db: Database) throws
        -> Bool
    {
        guard requests.isOfSpans else { return false }
        let covers = try covers ?? StatisticsCoverRows.covers(in: db)
        self.covers = covers
        return covers[chunk.resource]?.contains(requests.kind, end: chunk.end) ?? false
    }

    /// Returns `nil` for a series that is left out.
    private mutating func target(
        ofSeries series: Int64, sender: TargetLookup.SenderClass, in db: Database
    ) throws -> SeriesTarget? {
        if let known = lookup.target(ofSeries: series, sender: sender) { return known }
        let target = try lookup.readTarget(ofSeries: series, sender: sender, in: &index, db)
        if isGrowing {
            let slots = max(1, grid?.count ?? 1)
            for values in index.values[(sums.count / slots)...] {
                var group = RequestGroup(values: values)
                group.lowerScale(to: scale)
                sums.append(contentsOf: repeatElement(group, count: slots))
            }
        }
        lookup.remember(target, ofSeries: series, sender: sender)
        return target
    }
}
