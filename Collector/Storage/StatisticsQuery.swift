import MartletTelemetry

/// A query about counted requests.
package struct StatisticsQuery: Sendable, Equatable {
    package var window: TimeWindow
    package var filter: RequestFilter
    /// The dimensions to group by.
    package var by: [Dimension]
    /// The groups that the query is about.
    package var groups = WantedGroups.all
    package var order: GroupOrder
    /// The largest number of groups in the answer; `nil` for all.
    package var limit: Int?
    /// Whether the answer's groups need all figures. Otherwise a group may have only the counts and times that order it, which is
    /// cheaper. Totals always have all figures.
    package var hasFigures = true
    /// The length of the slots of the answer's groups, in nanoseconds; `nil` for no slots. The store may answer with longer slots
    /// (``SlotGrid``).
    package var step: UInt64?
    /// The highest scale of the slots' distributions; `nil` for the finest that the store has. The groups' own distributions
    /// keep their full scale. There are many slots, so coarse distributions in them save most of the memory. A store may answer
    /// with finer ones.
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

    /// The dimensions that a store groups by: those of the query, and the kind for the totals.
    package var grouping: [Dimension] { by.contains(.kind) ? by : by + [.kind] }

    /// Whether the query groups or filters by instance.
    package var needsSenders: Bool { by.contains(.instance) || filter.wanted[.instance] != nil }

    /// Returns the slots of the answer's window; `nil` if the query has no step.
    package func grid(in window: TimeWindow, _ expired: ExpiredTimes) -> SlotGrid? {
        step.map { SlotGrid(window, step: $0, endingAt: slotEnd, expired: expired) }
    }
}

/// The groups that a query is about. Other groups are not counted anywhere, not even in the totals.
package enum WantedGroups: Sendable, Equatable {
    case all
    /// The groups with these values.
    case named([[String?]])
    /// The groups in the answers to earlier queries of the same call, by the indexes of these queries. Those queries have the same
    /// dimensions and do not use `ofAnswers` themselves.
    case ofAnswers([Int])

    package var dependsOnAnswers: Bool {
        if case .ofAnswers = self { true } else { false }
    }
}

extension StatisticsQuery {
    /// Returns the query with its wanted groups listed by their values. Throws if an answer that the groups come from has
    /// failed.
    ///
    /// - Parameter answers: the answers to the other queries, by index.
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

/// The error of a query with more groups, or slots of groups, than the store allows in one answer.
package struct TooManyGroups: Error, Equatable, CustomStringConvertible {
    /// The largest number of groups in an answer. Each slot of a group counts as one.
    package var limit: Int

    package init(limit: Int) {
        self.limit = limit
    }

    package var description: String {
        """
        the report has more than \(limit) rows; ask for fewer dimensions, for the first rows (top), for one service, for a shorter \
        time or for longer steps
        """
    }
}
