import GRDB
import MartletStorage
import MartletTelemetry

/// The sums of a query's groups, to which ``ChunkPass`` adds points from the bytes as they are read. It holds the groups, and an
/// entry for each series that it met. If the groups' sketches take more memory than the limit, each step of coarseness halves them,
/// and doubles the error of quantiles.
struct GroupSums {
    /// The window of the answer.
    let window: TimeWindow
    /// `nil` for groups without slots.
    let grid: SlotGrid?
    /// The chunks that have the window's points.
    let ranges: [ChunkRange]
    private(set) var damagedPoints = 0
    /// The groups that were met, including empty ones; with a grid, each group's slots in the order of time.
    private(set) var sums: [RequestGroup] = []
    /// The reason why there is no answer.
    private(set) var failure: TooManyGroups?
    private var index: GroupIndex
    private var lookup: TargetLookup
    /// The chunk whose points are added.
    private var chunk: (sender: TargetLookup.SenderClass, resource: Int64, end: Int64, slot: Int)?
    /// The cover of each sender's spans, read when the first series of spans is met.
    private var covers: [Int64: MetricsCover]?
    private let maxSketchBytes: Int
    private var sketchBytes = 0
    /// The scale of all sketches at most.
    private var scale = ExponentialHistogram.defaultScale

    /// Creates sums of all groups of a query, `limits.maxGroups` at most; each slot of a group counts as one.
    ///
    /// - Parameter isInSlots: whether the groups are summed up in the query's slots.
    init(
        _ query: StatisticsQuery, isInSlots: Bool, _ expired: ExpiredTimes, _ limits: SQLiteLimits,
        _ series: SeriesMemory
    ) {
        let counted = WindowRanges(query.window, expired: expired)
        window = counted.window
        grid = isInSlots ? query.grid(in: window, expired) : nil
        ranges = grid.map { WindowRanges.ranges(of: $0, expired: expired) } ?? counted.ranges
        index = GroupIndex(of: query, maxGroups: limits.maxGroups, slots: grid?.count ?? 1)
        lookup = TargetLookup(by: query.grouping, query.filter, series)
        maxSketchBytes = limits.maxSketchBytes
    }

    /// The slots of each group.
    var slots: [[RequestGroup]] {
        guard let grid, grid.count > 0 else { return [] }
        return stride(from: 0, to: sums.count, by: grid.count).map { Array(sums[$0..<$0 + grid.count]) }
    }

    /// Returns `nil` if the query leaves out this sender.
    mutating func senderClass(ofResource id: Int64, in db: Database) throws -> TargetLookup.SenderClass? {
        try lookup.senderClass(ofResource: id, in: db)
    }

    /// Goes to a chunk. Returns `false` if none of its points count.
    mutating func begin(_ chunk: StoredChunk, in db: Database) throws -> Bool {
        guard failure == nil, let sender = try lookup.senderClass(ofResource: chunk.resource, in: db) else {
            return false
        }
        let slot = grid?.index(of: UnixNanoseconds(clamping: chunk.end)) ?? 0
        self.chunk = (sender, chunk.resource, chunk.end, slot)
        damagedPoints += chunk.damaged
        return true
    }

    mutating func addDamaged(_ points: Int) { damagedPoints += points }

    /// Returns the sum of a series of the chunk; `nil` for a series that does not count.
    mutating func target(ofSeries series: Int64, in db: Database) throws -> SeriesTarget? {
        guard let chunk, let target = try target(ofSeries: series, sender: chunk.sender, in: db),
            try !isCoveredByMetrics(target.requests, of: chunk.resource, until: chunk.end, db)
        else { return nil }
        return SeriesTarget(group: target.group * (grid?.count ?? 1) + chunk.slot, requests: target.requests)
    }

    /// Adds a point of the chunk.
    ///
    /// - Parameters:
    ///   - point: has read it.
    ///   - target: from ``target(ofSeries:in:)``.
    mutating func add(_ point: EntryReader, to target: SeriesTarget) {
        let end = UnixNanoseconds(clamping: chunk?.end ?? 0)
        sketchBytes += sums[target.group].add(target.requests, until: end) { point.add(to: &$0) }
        if sketchBytes > maxSketchBytes { makeCoarser() }
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
    private mutating func isCoveredByMetrics(
        _ requests: RequestClass, of resource: Int64, until end: Int64, _ db: Database
    ) throws -> Bool {
        guard requests.isOfSpans else { return false }
        let covers = try covers ?? StatisticsCoverRows.covers(in: db)
        self.covers = covers
        return covers[resource]?.contains(requests.kind, end: end) ?? false
    }

    /// Returns `nil` for a series that is left out.
    private mutating func target(
        ofSeries series: Int64, sender: TargetLookup.SenderClass, in db: Database
    ) throws -> SeriesTarget? {
        if let known = lookup.target(ofSeries: series, sender: sender) { return known }
        do {
            let target = try lookup.readTarget(ofSeries: series, sender: sender, in: &index, db)
            addNewGroups()
            lookup.remember(target, ofSeries: series, sender: sender)
            return target
        } catch let error as TooManyGroups {
            (failure, chunk, sums) = (error, nil, [])
            return nil
        }
    }

    private mutating func addNewGroups() {
        let slots = max(1, grid?.count ?? 1)
        for values in index.values[(sums.count / slots)...] {
            var group = RequestGroup(values: values)
            group.lowerScale(to: scale)
            sums.append(contentsOf: repeatElement(group, count: slots))
        }
    }
}
