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
    /// Points that were left out because the disk returned other bytes than were written.
    package var damagedPoints: Int

    /// Creates the answer without slots.
    ///
    /// - Parameter sums: the groups by ``StatisticsQuery/grouping``, no two with the same values; empty groups are left out.
    package init(
        _ query: StatisticsQuery, window: TimeWindow, sums: [RequestGroup], account: WindowAccount,
        damagedPoints: Int = 0
    ) {
        let kind = query.grouping.firstIndex(of: .kind) ?? 0
        var (groups, indexes) = ([RequestGroup](), [[String?]: Int]())
        totals = [:]
        for var group in sums where !group.isEmpty {
            if let kind = group.values[kind].flatMap(RequestKind.init) {
                totals[kind, default: RequestGroup(values: [])].merge(group)
            }
            group.values.removeLast(group.values.count - query.by.count)
            if let index = indexes[group.values] {
                groups[index].merge(group)
            } else {
                indexes[group.values] = groups.count
                groups.append(group)
            }
        }
        self.window = window
        self.groups = query.order.first(query.limit, of: groups)
        groupCount = groups.count
        self.account = account
        self.damagedPoints = damagedPoints
    }
}
