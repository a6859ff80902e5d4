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

/// The error of a query with more groups than the store puts together for one answer.
package struct TooManyGroups: Error, Equatable, CustomStringConvertible {
    /// Groups that an answer may have.
    package var limit: Int

    package init(limit: Int) {
        self.limit = limit
    }

    package var description: String {
        "the report has more than \(limit) rows; ask for fewer dimensions, for one service or for a shorter time"
    }
}
