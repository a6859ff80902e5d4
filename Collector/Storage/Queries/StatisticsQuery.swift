import MartletTelemetry

/// A question about counted requests.
package struct StatisticsQuery: Sendable, Equatable {
    package var window: TimeWindow
    package var filter: RequestFilter
    /// The dimensions that groups are told apart by.
    package var by: [Dimension]
    /// The groups that are wanted.
    package var groups = WantedGroups.all
    package var order: GroupOrder
    /// Groups of the answer at most; `nil` for all.
    package var limit: Int?
    /// Whether all figures of the answer's groups are wanted. If they are not, a group may have only the counts and times that order it,
    /// which costs a store less; totals have all figures.
    package var hasFigures = true
    /// The length of the slots in which the answer's groups are reported as well, in nanoseconds; `nil` for none. The store
    /// may answer in longer slots (``SlotGrid``).
    package var step: UInt64?
    /// The scale of the slots' distributions at most; `nil` for as fine as the store has them. The groups have theirs in full. Slots
    /// are many, so coarse ones save most of the memory. A store may answer with finer ones.
    package var slotScale: Int32?
    /// A time at which a slot ends; `nil` for slots that end at multiples of their length.
    package var slotEnd: UnixNanoseconds?

    package init(
        window: TimeWindow, filter: RequestFilter = RequestFilter(), by: [Dimension], order: GroupOrder = GroupOrder(),
        limit: Int? = nil, step: UInt64? = nil
    ) {
        self.window = window
        self.filter = filter
        self.by = by
        self.order = order
        self.limit = limit
        self.step = step
    }

    /// The dimensions that a store adds up by: those of the groups, and the kind for the totals.
    package var grouping: [Dimension] { by.contains(.kind) ? by : by + [.kind] }

    /// Returns the slots of a window that was answered; `nil` if the query has no step.
    package func grid(in window: TimeWindow, _ expired: ExpiredTimes) -> SlotGrid? {
        step.map { SlotGrid(window, step: $0, endingAt: slotEnd, expired: expired) }
    }
}
