extension StatisticsAnswer {
    /// Creates the answer from the slots of all groups.
    ///
    /// - Parameter slots: the slots of the groups by ``StatisticsQuery/grouping``, no two groups with the same values.
    package init(
        _ query: StatisticsQuery, slots: [[RequestGroup]], in grid: SlotGrid, account: WindowAccount,
        damagedPoints: Int = 0
    ) {
        self.init(
            query, window: grid.window, sums: slots.map { $0.merged }, account: account, damagedPoints: damagedPoints)
        self.slots = GroupSlots(groups, of: slots, in: grid)
    }
}

extension [RequestGroup] {
    /// The sum of a group's slots.
    fileprivate var merged: RequestGroup {
        dropFirst().reduce(into: self[0]) { $0.merge($1) }
    }
}
