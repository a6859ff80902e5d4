import MartletTelemetry

package struct StatisticsAnswer: Sendable, Equatable {
    /// The window of the figures: the query's, or a wider one if the store has no figures as fine as its ends.
    package var window: TimeWindow
    /// The groups that have requests, in no particular order. No two have the same values.
    package var groups: [RequestGroup]
    /// The account of the instances of the query's service, or of all instances.
    package var account: WindowAccount
    /// Points that were left out because the disk returned other bytes than were written.
    package var damagedPoints: Int

    /// - Parameter groups: no two with the same values; empty groups are left out.
    package init(window: TimeWindow, groups: [RequestGroup], account: WindowAccount, damagedPoints: Int = 0) {
        self.window = window
        self.groups = groups.contains(where: \.isEmpty) ? groups.filter { !$0.isEmpty } : groups
        self.account = account
        self.damagedPoints = damagedPoints
    }
}
