import MartletTelemetry

package struct StatisticsAnswer: Sendable, Equatable {
    /// The window of the figures: the query's window, or a wider one if the store has only coarser figures at its ends.
    package var window: TimeWindow
    /// The groups with requests, in the query's order and up to its limit. No two groups have the same values.
    package var groups: [RequestGroup]
    /// The number of groups, including those past the limit.
    package var groupCount: Int
    /// All requests of each kind, including those of groups past the limit. Each kind has its own total, because a client and a
    /// server may both have counted the same request.
    package var totals: [RequestKind: RequestGroup]
    /// The slots of the groups; `nil` if the query has no step.
    package var slots: GroupSlots?
    /// The account of the query's senders.
    package var account: WindowAccount
    /// The time at which the store's data begin, whatever the query selects; `nil` if they begin before the window, or if there are
    /// none.
    package var dataSince: UnixNanoseconds?
    /// The time since when the requests of each instance are known, if the query groups or filters by instance and there are earlier
    /// ones in the window; otherwise `nil`. In the groups, earlier requests have no instance; a filter leaves them out.
    package var sendersSince: UnixNanoseconds?
    /// Points that were left out because the disk returned bytes other than those written.
    package var damagedPoints: Int

    /// The part of the window that rates refer to. Requests before the store's first data are unknown.
    package var ratedWindow: TimeWindow { window.since(dataSince) }

    /// Creates the answer without slots.
    ///
    /// - Parameter sums: the groups by ``StatisticsQuery/grouping``, no two with the same values. Empty groups are left out.
    package init(
        _ query: StatisticsQuery, window: TimeWindow, sums: [RequestGroup], account: WindowAccount,
        damagedPoints: Int = 0
    ) {
        let kind = query.grouping.firstIndex(of: .kind) ?? 0
        totals = [:]
        for group in sums where !group.isEmpty {
            if let kind = group.values[kind].flatMap(RequestKind.init) {
                totals[kind, default: RequestGroup(values: [])].merge(group)
            }
        }
        let groups = Self.groups(sums, query)
        self.window = window
        self.groups = query.order.first(query.limit, of: groups)
        groupCount = groups.count
        self.account = account
        self.damagedPoints = damagedPoints
    }

    /// Creates the answer with groups that have only counts and times. ``takeGroups(_:_:)`` replaces them.
    ///
    /// - Parameters:
    ///   - values: the values of the groups by ``StatisticsQuery/grouping``, no two the same.
    ///   - figures: the figures of these groups. Empty groups are left out.
    ///   - totals: all requests of each kind.
    package init(
        _ query: StatisticsQuery, window: TimeWindow, ranking values: [[String?]], _ figures: [RankFigures],
        totals: [RequestKind: RequestGroup], account: WindowAccount, damagedPoints: Int = 0
    ) {
        let found = Self.merged(zip(values, figures).lazy.filter { !$1.isEmpty }, query) { $0.merge($1) }
        self.window = window
        groups = query.order.first(query.limit, of: found.map { $0.part.value(of: query.order.measure) }) {
            found[$0].values
        }.map { RequestGroup(values: found[$0].values, found[$0].part) }
        groupCount = found.count
        self.totals = totals.filter { !$0.value.isEmpty }
        self.account = account
        self.damagedPoints = damagedPoints
    }

    package func with(dataSince: UnixNanoseconds?, sendersSince: UnixNanoseconds? = nil) -> StatisticsAnswer {
        var answer = self
        answer.dataSince = dataSince.flatMap { $0 > window.from ? $0 : nil }
        answer.sendersSince = sendersSince.flatMap { $0 > window.from ? $0 : nil }
        return answer
    }

    /// Replaces groups that have only counts and times with groups that have all figures.
    ///
    /// - Parameter sums: the answer's groups by ``StatisticsQuery/grouping``.
    package mutating func takeGroups(_ sums: [RequestGroup], _ query: StatisticsQuery) {
        let whole = Dictionary(Self.groups(sums, query).map { ($0.values, $0) }) { first, _ in first }
        groups = groups.map { whole[$0.values] ?? $0 }
    }

    /// Returns the groups that have requests, merged by the query's own dimensions.
    private static func groups(_ sums: [RequestGroup], _ query: StatisticsQuery) -> [RequestGroup] {
        merged(sums.lazy.filter { !$0.isEmpty }.map { ($0.values, $0) }, query) { $0.merge($1) }.map { values, group in
            var group = group
            group.values = values
            return group
        }
    }

    /// Returns the parts by the query's own dimensions. Parts with the same values are merged.
    private static func merged<Part>(
        _ parts: some Sequence<([String?], Part)>, _ query: StatisticsQuery, _ merge: (inout Part, Part) -> Void
    ) -> [(values: [String?], part: Part)] {
        var (merged, indexes) = ([(values: [String?], part: Part)](), [[String?]: Int]())
        for (values, part) in parts {
            let values = values.count > query.by.count ? Array(values.prefix(query.by.count)) : values
            if let index = indexes[values] {
                merge(&merged[index].part, part)
            } else {
                indexes[values] = merged.count
                merged.append((values, part))
            }
        }
        return merged
    }
}

extension StatisticsAnswer {
    /// Creates the answer from the slots of all groups.
    ///
    /// - Parameters:
    ///   - sums: the groups by ``StatisticsQuery/grouping``, no two with the same values; `nil` to add up the slots.
    ///   - slots: the slots of these groups.
    package init(
        _ query: StatisticsQuery, groups sums: [RequestGroup]? = nil, slots: [[RequestGroup]], in grid: SlotGrid,
        account: WindowAccount, damagedPoints: Int = 0
    ) {
        self.init(
            query, window: grid.window, sums: sums ?? slots.map { $0.merged }, account: account,
            damagedPoints: damagedPoints)
        self.slots = GroupSlots(groups, of: slots, in: grid)
    }
}

extension [RequestGroup] {
    /// The sum of a group's slots.
    fileprivate var merged: RequestGroup {
        dropFirst().reduce(into: self[0]) { $0.merge($1) }
    }
}

/// The requests of groups in each slot of time.
package struct GroupSlots: Sendable, Equatable {
    package var grid: SlotGrid
    /// The slots of each group, in the order of the answer's groups; a slot without requests is an empty group.
    package var groups: [[RequestGroup]]

    package init(grid: SlotGrid, groups: [[RequestGroup]]) {
        self.grid = grid
        self.groups = groups
    }
    /// Creates the slots of some groups.
    ///
    /// - Parameters:
    ///   - groups: the groups of an answer.
    ///   - slots: the slots of these groups or of finer groups, in any order. Finer groups have further values at the end.
    package init(_ groups: [RequestGroup], of slots: [[RequestGroup]], in grid: SlotGrid) {
        let dimensions = groups.first?.values.count ?? 0
        let indexes = Dictionary(zip(groups.map(\.values), groups.indices)) { first, _ in first }
        var sums = groups.map { Array(repeating: RequestGroup(values: $0.values), count: grid.count) }
        for slots in slots {
            guard let values = slots.first?.values, let index = indexes[Array(values.prefix(dimensions))] else {
                continue
            }
            for slot in slots.indices where !slots[slot].isEmpty {
                if sums[index][slot].isEmpty, values.count == dimensions {
                    sums[index][slot] = slots[slot]
                } else {
                    sums[index][slot].merge(slots[slot])
                }
            }
        }
        self.init(grid: grid, groups: sums)
    }
}
