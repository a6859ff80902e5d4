import GRDB
import MartletStorage
import MartletTelemetry

/// The sums of a query's groups. ``ChunkPass`` adds points directly from the bytes. The sums hold the groups, and an entry for
/// each series that was found. If the groups' sketches exceed the memory limit, they become coarser. Each step halves their
/// size and doubles the error of quantiles.
struct GroupSums {
    /// The window of the answer.
    let window: TimeWindow
    /// `nil` for groups without slots.
    private(set) var grid: SlotGrid?
    /// The chunks with the window's points.
    private(set) var ranges: [ChunkRange]
    private(set) var damagedPoints = 0
    /// The groups found so far, including empty ones. With a grid, these are each group's slots in order of time. Empty while there
    /// is a ranking.
    private(set) var sums: [RequestGroup] = []
    /// The groups added up without slots; `nil` if they are the sums of their slots. The two differ if slots are coarse or have
    /// few points each.
    private(set) var wholes: [RequestGroup]?
    /// The reason why there is no answer.
    private(set) var failure: TooManyGroups?
    private var index: GroupIndex
    private var lookup: TargetLookup
    /// The chunk whose points are being added.
    private var chunk: (sender: TargetLookup.SenderClass, owner: ChunkOwner, end: Int64, slot: Int)?
    /// The cover of the spans of each sender that has some in the window; `.some(nil)` if metrics cover none of them.
    private var covers: [Int64: MetricsCover?] = [:]
    /// The number of groups past which all groups are only ranked, because the query's limit drops most of them.
    private let maxWholeGroups: Int
    /// The index of the kind among a group's values.
    private let kind: Int
    /// The figures that order the groups and replace their sums; `nil` if groups have sums.
    private var ranking: GroupRanking?
    /// The index of the first element of ``sums`` for each group of ``index``; -1 for a group that is left out; `nil` if all
    /// groups are added up.
    private var positions: [Int]?
    private let maxSketchBytes: Int
    private var sketchBytes = 0
    /// The highest scale of all sketches.
    private var scale = ExponentialHistogram.defaultScale
    /// The highest scale of sketches in slots.
    private var slotScale = ExponentialHistogram.defaultScale

    /// Creates sums of all groups of a query, at most `limits.maxGroups`. Each slot of a group counts as a group. Groups of a query
    /// with a limit are only ranked past that, at most `limits.maxRankedGroups`.
    ///
    /// - Parameter isInSlots: whether the groups are added up in the query's slots.
    init(
        _ query: StatisticsQuery, isInSlots: Bool, _ expired: ExpiredTimes, _ limits: SQLiteLimits,
        _ series: TransactionSeries
    ) {
        let counted = WindowRanges(query.window, expired: expired, hasSenders: query.needsSenders)
        window = counted.window
        grid = isInSlots ? query.grid(in: window, expired) : nil
        ranges = grid.map { query.ranges(of: $0, expired) } ?? counted.ranges
        let isRankable = !isInSlots && query.limit != nil
        index = GroupIndex(
            of: query, maxGroups: isRankable ? limits.maxRankedGroups : limits.maxGroups, slots: grid?.count ?? 1)
        lookup = TargetLookup(by: query.grouping, query.filter, series)
        kind = query.grouping.firstIndex(of: .kind) ?? 0
        maxWholeGroups = isRankable ? min(query.maxWholeGroups, limits.maxGroups) : .max
        maxSketchBytes = limits.maxSketchBytes
        guard grid != nil, let coarse = query.slotScale else { return }
        (slotScale, wholes) = (coarse, query.hasFigures ? [] : nil)
    }

    /// Whether the groups are only ranked.
    var isRanking: Bool { ranking != nil }

    /// The values of all groups with requests.
    var rankedValues: [[String?]] {
        zip(index.values, ranking?.figures ?? []).lazy.filter { !$1.isEmpty }.map { $0.0 }
    }

    /// Whether a query's groups can be selected from these sums.
    ///
    /// - Parameter own: the query of these sums.
    func canSelect(_ query: StatisticsQuery, of own: StatisticsQuery) -> Bool {
        failure == nil && grid == nil && own.groups == .all
            && (own.window, own.filter, own.by) == (query.window, query.filter, query.by)
    }

    /// Returns sums of only some of the groups, for a second pass over the same points.
    ///
    /// - Parameters:
    ///   - wanted: the values of these groups.
    ///   - query: the query of the new sums. It is about the same requests as these sums.
    ///   - isInSlots: whether the groups are added up in the query's slots.
    ///   - hasWholes: whether the groups are also added up without slots.
    func selecting(
        _ wanted: [[String?]], _ query: StatisticsQuery, isInSlots: Bool, hasWholes: Bool = false,
        _ expired: ExpiredTimes, _ limits: SQLiteLimits
    ) -> GroupSums {
        var selected = self
        (selected.ranking, selected.sums, selected.damagedPoints) = (nil, [], 0)
        selected.wholes = isInSlots && hasWholes ? [] : nil
        (selected.sketchBytes, selected.scale) = (0, ExponentialHistogram.defaultScale)
        selected.slotScale = isInSlots ? query.slotScale ?? selected.scale : selected.scale
        if isInSlots, let grid = query.grid(in: window, expired) {
            (selected.grid, selected.ranges) = (grid, query.ranges(of: grid, expired))
        }
        selected.select(Set(wanted), dimensions: query.by.count, maxGroups: limits.maxGroups)
        return selected
    }

    private mutating func select(_ wanted: Set<[String?]>, dimensions: Int, maxGroups: Int) {
        let slots = slotCount
        // Each wanted group may have requests of every kind.
        let most = maxGroups / slots * RequestKind.allCases.count
        positions = index.values.map { values in
            guard failure == nil, wanted.contains(Array(values.prefix(dimensions))) else { return -1 }
            guard sums.count / slots < most else {
                failure = TooManyGroups(limit: maxGroups)
                return -1
            }
            append(values)
            return sums.count - slots
        }
    }

    /// Returns the answer to the query of these sums.
    func answer(
        to query: StatisticsQuery, _ accounts: inout WindowAccounts, in db: Database
    ) throws -> Result<StatisticsAnswer, TooManyGroups> {
        if let failure { return .failure(failure) }
        let account = try accounts.account(in: window, query.filter, in: db)
        if let ranking {
            return .success(
                StatisticsAnswer(
                    query, window: window, ranking: index.values, ranking.figures, totals: ranking.totals,
                    account: account, damagedPoints: damagedPoints))
        }
        guard let grid else {
            return .success(
                StatisticsAnswer(query, window: window, sums: sums, account: account, damagedPoints: damagedPoints))
        }
        return .success(
            StatisticsAnswer(
                query, groups: wholes, slots: slots, in: grid, account: account, damagedPoints: damagedPoints))
    }

    /// The slots of each group.
    var slots: [[RequestGroup]] {
        guard let grid, grid.count > 0 else { return [] }
        return stride(from: 0, to: sums.count, by: grid.count).map { Array(sums[$0..<$0 + grid.count]) }
    }

    /// Returns `nil` if the query leaves out this sender or version.
    mutating func senderClass(of owner: ChunkOwner, in db: Database) throws -> TargetLookup.SenderClass? {
        try lookup.senderClass(of: owner, in: db)
    }

    /// Starts a chunk. Returns `false` if none of its points count.
    mutating func begin(_ chunk: StoredChunk, in db: Database) throws -> Bool {
        guard failure == nil, let sender = try lookup.senderClass(of: chunk.owner, in: db) else {
            self.chunk = nil
            return false
        }
        let slot = grid?.index(of: UnixNanoseconds(clamping: chunk.end)) ?? 0
        self.chunk = (sender, chunk.owner, chunk.end, slot)
        damagedPoints += chunk.damaged
        return true
    }

    mutating func addDamaged(_ points: Int) { damagedPoints += points }

    /// Returns the target of a series of the chunk's sender; `nil` for a series that does not count. If groups are selected,
    /// ``counted(_:)`` maps the target.
    mutating func target(ofSeries series: Int64, in db: Database) throws -> SeriesTarget? {
        guard let chunk, var target = try target(ofSeries: series, sender: chunk.sender, in: db) else { return nil }
        if positions == nil { target.group *= slotCount }
        return target
    }

    /// Returns the target of a point: that of its series, or, if groups are selected, the target among the selected groups.
    func counted(_ target: SeriesTarget) -> SeriesTarget? {
        guard let positions else { return target }
        // A series first seen in the second pass belongs to a group that is not in the answer.
        guard target.group < positions.count, positions[target.group] >= 0 else { return nil }
        return SeriesTarget(group: positions[target.group], requests: target.requests)
    }

    /// Returns whether requests of a class are counted in the chunk. Requests from spans are not if the same sender's metrics
    /// cover the chunk's time. Of those in the chunk of a version, this was decided before.
    mutating func counts(_ requests: RequestClass, in db: Database) throws -> Bool {
        guard let chunk else { return false }
        guard requests.comesFromSpans, case .sender(let id) = chunk.owner else { return true }
        if covers[id] == nil { covers[id] = .some(try StatisticsCoverRows.cover(ofSpansOf: id, in: db)) }
        return !((covers[id] ?? nil)?.contains(requests, end: chunk.end) ?? false)
    }

    /// Adds a point of the chunk.
    ///
    /// - Parameters:
    ///   - point: the reader of the point.
    ///   - target: a target from ``counted(_:)`` that ``counts(_:in:)``.
    mutating func add(_ point: EntryReader, to target: SeriesTarget) {
        guard let chunk else { return }
        let (end, sum) = (UnixNanoseconds(clamping: chunk.end), target.group + chunk.slot)
        guard ranking == nil else {
            ranking?.add(point, to: target, until: end)
            return
        }
        if wholes != nil {
            let whole = target.group / slotCount
            sketchBytes += wholes?[whole].add(target.requests, until: end) { point.add(to: &$0) } ?? 0
        }
        sketchBytes += sums[sum].add(target.requests, until: end) { point.add(to: &$0) }
        if sketchBytes > maxSketchBytes { makeCoarser() }
    }

    /// The scale at which slots have few buckets. Coarser slots would free little memory.
    private static let coarsestSlotScale: Int32 = 0

    /// Halves the sketches as often as necessary. Those of slots come first, because they take most of the memory, and because
    /// the others are the figures of the report's rows. At the coarsest scale, sketches take hardly any memory.
    private mutating func makeCoarser() {
        while sketchBytes > maxSketchBytes, scale > ExponentialHistogram.scales.lowerBound {
            if wholes == nil || slotScale <= Self.coarsestSlotScale { scale -= 1 }
            slotScale = min(max(slotScale - 1, Self.coarsestSlotScale), scale)
            for sum in sums.indices { sums[sum].lowerScale(to: slotScale) }
            for index in wholes?.indices ?? 0..<0 { wholes?[index].lowerScale(to: scale) }
            sketchBytes = (sums + (wholes ?? [])).reduce(0) { $0 + $1.sketchBytes }
        }
    }

    /// Returns `nil` for a series that is left out.
    private mutating func target(
        ofSeries series: Int64, sender: TargetLookup.SenderClass, in db: Database
    ) throws -> SeriesTarget? {
        do {
            let target = try lookup.target(ofSeries: series, sender: sender, in: &index, db)
            addNewGroups()
            return target
        } catch let error as TooManyGroups {
            (failure, chunk, sums, wholes) = (error, nil, [], nil)
            return nil
        }
    }

    private mutating func addNewGroups() {
        guard positions == nil else { return }
        guard ranking == nil else {
            ranking?.grow(to: index.values.count)
            return
        }
        for values in index.values[(sums.count / slotCount)...] { append(values) }
        guard sums.count > maxWholeGroups else { return }
        ranking = GroupRanking(of: sums) { $0.values[kind].flatMap(RequestKind.init) }
        (sums, sketchBytes) = ([], 0)
    }

    /// The number of sums of a group: one for each slot.
    private var slotCount: Int { max(1, grid?.count ?? 1) }

    /// Adds empty sums for a new group.
    private mutating func append(_ values: [String?]) {
        sums.append(contentsOf: repeatElement(Self.empty(values, slotScale), count: slotCount))
        wholes?.append(Self.empty(values, scale))
    }

    private static func empty(_ values: [String?], _ scale: Int32) -> RequestGroup {
        var group = RequestGroup(values: values)
        group.lowerScale(to: scale)
        return group
    }
}

extension StatisticsQuery {
    /// The number of groups that the first pass sums in full, for each group of the answer. If there are more, a second pass
    /// over the points of the answer's groups costs less than full sums of all groups.
    private static let wholeGroups = 2

    /// Returns the ranges of the chunks that make up the slots of the query.
    fileprivate func ranges(of grid: SlotGrid, _ expired: ExpiredTimes) -> [ChunkRange] {
        WindowRanges.ranges(of: grid, expired: expired, hasSenders: needsSenders)
    }

    fileprivate var maxWholeGroups: Int {
        guard let limit, !order.measure.needsBuckets else { return .max }
        guard hasFigures else { return 0 }
        let groups = limit.multipliedReportingOverflow(by: Self.wholeGroups)
        return groups.overflow ? .max : groups.partialValue
    }
}

/// The groups of a query, looked up by the values of its dimensions.
struct GroupIndex {
    /// The values of each group.
    private(set) var values: [[String?]] = []
    private var indexes: [[String?]: Int] = [:]
    /// The leading values of the wanted groups; `nil` for all groups.
    private let wanted: Set<[String?]>?
    /// The number of leading values.
    private let wantedValues: Int
    private let maxGroups: Int
    /// The number of slots of a group, each of which counts as a group.
    private let slots: Int

    /// Creates an index without groups. They are added when they are first seen.
    ///
    /// - Parameters:
    ///   - maxGroups: the largest number of groups, in which each slot of a group counts as one.
    ///   - slots: the number of slots of a group; 1 if it has none.
    init(of query: StatisticsQuery, maxGroups: Int, slots: Int) {
        wanted = if case .named(let values) = query.groups { Set(values) } else { nil }
        wantedValues = query.by.count
        self.maxGroups = maxGroups
        self.slots = max(1, slots)
    }

    /// Returns the index of the group with these values; `nil` if the query leaves out the group.
    mutating func index(of values: [String?]) throws(TooManyGroups) -> Int? {
        // If only some groups are wanted, most groups are left out here.
        if let wanted, !wanted.contains(values.count == wantedValues ? values : Array(values.prefix(wantedValues))) {
            return nil
        }
        if let known = indexes[values] { return known }
        // The limit was already applied to the wanted groups, but each of them may have requests of every kind.
        let most = maxGroups / slots * (wanted == nil ? 1 : RequestKind.allCases.count)
        guard self.values.count < most else { throw TooManyGroups(limit: maxGroups) }
        indexes[values] = self.values.count
        self.values.append(values)
        return self.values.count - 1
    }
}

/// The figures that rank the groups of a query with a limit, and the totals of each kind, from a first pass over the points. A
/// second pass adds up only the groups within the limit. Full sums of all groups of an hour would have thousands of sketches.
/// These few figures stay in the processor's caches.
struct GroupRanking {
    /// The figures of each group, in the order in which the groups were added.
    private(set) var figures: [RankFigures] = []
    private var clients = RequestGroup(values: [])
    private var servers = RequestGroup(values: [])

    var totals: [RequestKind: RequestGroup] { [.client: clients, .server: servers] }

    /// Creates the ranking from groups that have already been added up.
    ///
    /// - Parameter kind: returns the kind of a group's requests.
    init(of groups: [RequestGroup], kind: (RequestGroup) -> RequestKind?) {
        figures = groups.map(RankFigures.init)
        for group in groups {
            switch kind(group) {
            case .client: clients.merge(group)
            case .server: servers.merge(group)
            case nil: continue
            }
        }
    }

    /// Makes room for new groups.
    mutating func grow(to count: Int) {
        while figures.count < count { figures.append(RankFigures()) }
    }

    /// Adds a point of a group.
    ///
    /// - Parameters:
    ///   - point: the reader of the point.
    ///   - end: the end of its interval.
    mutating func add(_ point: EntryReader, to target: SeriesTarget, until end: UnixNanoseconds) {
        point.add(to: &figures[target.group], isFailure: target.requests.isFailure)
        switch target.requests.kind {
        case .client: clients.add(target.requests, until: end) { point.add(to: &$0) }
        case .server: servers.add(target.requests, until: end) { point.add(to: &$0) }
        }
    }
}

/// The sum that counts a series' requests, and their class.
struct SeriesTarget: Equatable {
    /// The index of the group's sum, or of its first slot. If groups are selected, it is the index of the group until
    /// ``GroupSums/counted(_:)``.
    var group: Int
    var requests: RequestClass
}
