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
    ///   - slots: the slots of groups, in any order. They are the same groups, or finer ones with further values at the end.
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
