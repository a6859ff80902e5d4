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

/// The groups that a query is about. Nothing else counts, to its totals neither.
package enum WantedGroups: Sendable, Equatable {
    case all
    /// The groups with these values.
    case named([[String?]])
    /// The groups of the answers to queries that are asked before it in the same call, by their indexes. Those have the same
    /// dimensions, and take no groups of answers themselves.
    case ofAnswers([Int])

    package var isOfAnswers: Bool {
        if case .ofAnswers = self { true } else { false }
    }
}

extension StatisticsQuery {
    /// Returns the query with the values of the groups that it wants. Throws the failure of an answer that it takes groups of.
    ///
    /// - Parameter answers: those to other queries, by the indexes of these.
    package func naming(
        groupsOf answers: [Int: Result<StatisticsAnswer, TooManyGroups>]
    ) throws(TooManyGroups) -> StatisticsQuery {
        guard case .ofAnswers(let indexes) = groups else { return self }
        var (named, known) = ([[String?]](), Set<[String?]>())
        for index in indexes {
            for group in try answers[index]?.get().groups ?? [] where known.insert(group.values).inserted {
                named.append(group.values)
            }
        }
        var query = self
        query.groups = .named(named)
        return query
    }
}

/// The error of a query with more groups, or more slots of groups, than the store puts together for one answer.
package struct TooManyGroups: Error, Equatable, CustomStringConvertible {
    /// Groups that an answer may have; each slot of a group counts as one.
    package var limit: Int

    package init(limit: Int) {
        self.limit = limit
    }

    package var description: String {
        """
        the report has more than \(limit) rows; ask for fewer dimensions, for one service, for a shorter time or for longer \
        steps
        """
    }
}
