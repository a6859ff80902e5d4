import MartletTelemetry

package struct StatisticsAnswer: Sendable, Equatable {
    /// The window of the figures: the query's, or a wider one if the store has no figures as fine as its ends.
    package var window: TimeWindow
    /// The groups that have requests, in the query's order and up to its limit. No two have the same values.
    package var groups: [RequestGroup]
    /// The number of groups, including those past the limit.
    package var groupCount: Int
    /// All requests of each kind, including those of groups past the limit. They stay apart, because a client and a server
    /// may both have counted one request.
    package var totals: [RequestKind: RequestGroup]
    /// The slots of the groups; `nil` if the query has no step.
    package var slots: GroupSlots?
    /// The account of the query's senders.
    package var account: WindowAccount
    /// The time at which the data of the store begin, whatever the query selects. `nil` if they begin before the window, or there are none.
    package var dataSince: UnixNanoseconds?
    /// Points that were left out because the disk returned other bytes than were written.
    package var damagedPoints: Int

    /// The part of the window that rates are about: nobody knows the requests before the store's first data.
    package var ratedWindow: TimeWindow { window.since(dataSince) }

    /// Creates the answer without slots.
    ///
    /// - Parameter sums: the groups by ``StatisticsQuery/grouping``, no two with the same values; empty groups are left out.
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

    /// Creates the answer with groups of which only counts and times are known: see ``takeGroups(_:_:)``.
    ///
    /// - Parameters:
    ///   - values: those of the groups by ``StatisticsQuery/grouping``, no two the same.
    ///   - figures: those of these groups; empty groups are left out.
    ///   - totals: all requests of each kind.
    package init(
        _ query: StatisticsQuery, window: TimeWindow, ranking values: [[String?]], _ figures: [RankFigures],
        totals: [RequestKind: RequestGroup], account: WindowAccount, damagedPoints: Int = 0
    ) {
        let (values, figures) = Self.groups(values, figures, query)
        self.window = window
        groups = query.order.first(query.limit, of: figures.map { $0.value(of: query.order.measure) }) { values[$0] }
            .map { RequestGroup(values: values[$0], figures[$0]) }
        groupCount = figures.count
        self.totals = totals.filter { !$0.value.isEmpty }
        self.account = account
        self.damagedPoints = damagedPoints
    }

    package func with(dataSince: UnixNanoseconds?) -> StatisticsAnswer {
        var answer = self
        answer.dataSince = dataSince.flatMap { $0 > window.from ? $0 : nil }
        return answer
    }

    /// Takes groups with all figures in place of those that were ordered without them.
    ///
    /// - Parameter sums: the answer's groups by ``StatisticsQuery/grouping``.
    package mutating func takeGroups(_ sums: [RequestGroup], _ query: StatisticsQuery) {
        let whole = Dictionary(Self.groups(sums, query).map { ($0.values, $0) }) { first, _ in first }
        groups = groups.map { whole[$0.values] ?? $0 }
    }

    /// Returns the groups by the query's own dimensions.
    private static func groups(_ sums: [RequestGroup], _ query: StatisticsQuery) -> [RequestGroup] {
        var (groups, indexes) = ([RequestGroup](), [[String?]: Int]())
        for var group in sums where !group.isEmpty {
            group.values.removeLast(group.values.count - query.by.count)
            if let index = indexes[group.values] {
                groups[index].merge(group)
            } else {
                indexes[group.values] = groups.count
                groups.append(group)
            }
        }
        return groups
    }

    /// Returns the groups that have requests by the query's own dimensions, as values and figures.
    private static func groups(
        _ values: [[String?]], _ figures: [RankFigures], _ query: StatisticsQuery
    ) -> (values: [[String?]], figures: [RankFigures]) {
        var groups = (values: [[String?]](), figures: [RankFigures]())
        var indexes: [[String?]: Int] = [:]
        for (values, figures) in zip(values, figures) where !figures.isEmpty {
            let values = values.count > query.by.count ? Array(values.prefix(query.by.count)) : values
            if let index = indexes[values] {
                groups.figures[index].merge(figures)
            } else {
                indexes[values] = groups.values.count
                groups.values.append(values)
                groups.figures.append(figures)
            }
        }
        return groups
    }
}
