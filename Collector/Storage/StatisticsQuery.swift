import MartletTelemetry

package struct StatisticsQuery: Sendable, Equatable {
    package var window: TimeWindow
    package var filter: RequestFilter
    package var by: [Dimension]

    package init(window: TimeWindow, filter: RequestFilter = RequestFilter(), by: [Dimension]) {
        self.window = window
        self.filter = filter
        self.by = by
    }
}

package struct StatisticsAnswer: Sendable, Equatable {
    /// What this is of: the query's, or a wider one where the store has no figures as fine as its ends.
    package var window: TimeWindow
    /// Those that have something, no two with the same values, in no order that means anything.
    package var groups: [RequestGroup]
    /// The account of the instances of the service that the query names, or of all.
    package var account: WindowAccount
    /// Points that were left out because the disk gave back something else than was written.
    package var damagedPoints: Int

    /// - Parameter groups: no two with the same values; those that have nothing are left out.
    package init(window: TimeWindow, groups: [RequestGroup], account: WindowAccount, damagedPoints: Int = 0) {
        self.window = window
        self.groups = groups.contains(where: \.isEmpty) ? groups.filter { !$0.isEmpty } : groups
        self.account = account
        self.damagedPoints = damagedPoints
    }
}
