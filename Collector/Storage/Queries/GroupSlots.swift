/// The requests of groups in each slot of time.
package struct GroupSlots: Sendable, Equatable {
    package var grid: SlotGrid
    /// The slots of each group, in the order of the answer's groups; a slot without requests is an empty group.
    package var groups: [[RequestGroup]]

    package init(grid: SlotGrid, groups: [[RequestGroup]]) {
        self.grid = grid
        self.groups = groups
    }
}
