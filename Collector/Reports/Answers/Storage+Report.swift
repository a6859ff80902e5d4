import MartletStorage

extension Storage {
    /// Returns the report on a query.
    ///
    /// - Parameter base: the requests that the report's are compared with; `nil` for none. All rows are compared, whatever the
    ///   query's limit is, so the limit of slots of rows in an answer bounds them (``TooManyGroups``).
    package func report(_ query: StatisticsQuery, comparedWith base: ComparisonBase? = nil) async throws -> Report {
        let question = ReportQuestion(query, comparedWith: base)
        return try await question.report(of: try await statistics(question.queries), in: self)
    }
}
