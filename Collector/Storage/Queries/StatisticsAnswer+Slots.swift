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

extension GroupSlots {
    /// - Parameters:
    ///   - groups: the groups of an answer.
    ///   - slots: the slots of finer groups, which have further values at the end.
    fileprivate init(_ groups: [RequestGroup], of slots: [[RequestGroup]], in grid: SlotGrid) {
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
