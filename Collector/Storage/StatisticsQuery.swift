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
    package var groups: [RequestGroup: RequestStatistics]
    /// The share of captured requests that arrived, 0...1, over the instances of the service that the query names, or of
    /// all. 1 when nothing was captured.
    package var completeness: Double
    /// Points that were left out because the disk gave back something else than was written.
    package var damagedPoints: Int

    package init(groups: [RequestGroup: RequestStatistics], completeness: Double, damagedPoints: Int = 0) {
        self.groups = groups
        self.completeness = completeness
        self.damagedPoints = damagedPoints
    }
}

/// What the requests of one group have in common. Kind and outcome are always told apart, for they decide what counts as
/// a failure, and so is what they are known from.
package struct RequestGroup: Sendable, Hashable {
    /// A value for each dimension of the query, in its order.
    package var values: [String?]
    package var kind: RequestKind
    package var outcome: RequestOutcome
    package var source: StatisticsSource

    package init(
        values: [String?], kind: RequestKind, outcome: RequestOutcome, source: StatisticsSource = .metrics
    ) {
        self.values = values
        self.kind = kind
        self.outcome = outcome
        self.source = source
    }
}
