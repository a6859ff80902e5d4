extension StatisticsAnswer {
    /// Creates the answer from the slots of all groups.
    ///
    /// - Parameters:
    ///   - sums: the groups by ``StatisticsQuery/grouping``, no two with the same values; `nil` to add up their slots.
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
