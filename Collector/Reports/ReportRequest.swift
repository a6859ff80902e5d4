import MartletStorage

/// The query of a report, and the order and number of its rows.
package struct ReportRequest: Sendable, Equatable {
    package var query: StatisticsQuery
    package var sort: ReportSort
    package var ascending: Bool
    /// Rows at most; the totals are over all of them. `nil` shows all.
    package var top: Int?

    package init(query: StatisticsQuery, sort: ReportSort = .impact, ascending: Bool = false, top: Int? = nil) {
        self.query = query
        self.sort = sort
        self.ascending = ascending
        self.top = top
    }
}
