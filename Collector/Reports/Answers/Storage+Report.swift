import MartletStorage

extension Storage {
    /// Returns the report on a query.
    ///
    /// - Parameter base: the requests that the report's are compared with; `nil` for none. All rows are compared, whatever the
    ///   query's limit is, so the limit of slots of rows in an answer bounds them (``TooManyGroups``).
    package func report(_ query: StatisticsQuery, comparedWith base: ComparisonBase? = nil) async throws -> Report {
        guard let base else { return Report(try await statistics(query), for: query) }
        let asked = base.query(after: query)
        // The blocks come first, because only they can be too many.
        let after = try await answerInBlocks(to: asked)
        let before = try await answerInBlocks(to: base.query(before: query, answeredFor: after.window))
        let answer = try await statistics(asked)
        var report = Report(answer, for: asked)
        report.compare(after, with: before, base, limit: query.limit)
        if let slots = answer.slots { report.addChangedTimes(slots) }
        return report
    }

    /// Returns the figures of all groups in the blocks of a comparison (``ComparisonBlocks``).
    private func answerInBlocks(to query: StatisticsQuery) async throws -> StatisticsAnswer {
        let slot = ComparisonBlocks.slot(for: query.window)
        let answer = try await statistics(query.cut(into: ComparisonBlocks(query.window, slot: slot)))
        guard let finest = answer.slots?.grid.finest, finest > slot else { return answer }
        // The store keeps a part of the window in longer slots alone.
        return try await statistics(query.cut(into: ComparisonBlocks(answer.window, slot: finest)))
    }
}
