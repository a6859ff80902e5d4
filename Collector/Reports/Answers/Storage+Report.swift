import MartletStorage

extension Storage {
    /// Returns the report on a query.
    ///
    /// - Parameter base: the requests that the report's are compared with; `nil` for none. If the query has a limit, rows past it
    ///   are compared as well, up to ``ReportQuestion/maxComparedRows``.
    package func report(_ query: StatisticsQuery, comparedWith base: ComparisonBase? = nil) async throws -> Report {
        let question = ReportQuestion(query, comparedWith: base)
        return try await question.report(of: try await statistics(question.queries), in: self)
    }
}
