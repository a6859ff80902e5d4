import MartletStorage

/// A report that is wanted, as queries that are asked together with others.
package struct ReportQuestion: Sendable {
    package typealias Answer = Result<StatisticsAnswer, TooManyGroups>

    private let query: StatisticsQuery
    private let base: ComparisonBase?

    /// - Parameter base: the requests that the report's are compared with; `nil` for none.
    package init(_ query: StatisticsQuery, comparedWith base: ComparisonBase? = nil) {
        self.query = query
        self.base = base
    }

    /// The query of the rows, and with a comparison those of all groups in blocks, after and before.
    package var queries: [StatisticsQuery] {
        guard let base else { return [query] }
        let asked = base.query(after: query)
        return [asked] + [asked, base.query(before: query, answeredFor: asked.window)].map(\.inBlocks)
    }

    /// Returns the report of the answers to ``queries``. Throws ``TooManyGroups`` if there are too many rows.
    ///
    /// - Parameter storage: asked again where it has parts of a window more coarsely.
    package func report(of answers: [Answer], in storage: some Storage) async throws -> Report {
        guard let base else { return Report(try answers[0].get(), for: query) }
        let asked = base.query(after: query)
        // The blocks come first, because they are more than the rows.
        let after = try await storage.inBlocks(asked, try answers[1].get())
        let before = try await self.before(base, after.window, answers[2], in: storage)
        let answer = try answers[0].get()
        var report = Report(answer, for: asked)
        report.compare(after, with: before, base, limit: query.limit)
        if let slots = answer.slots { report.addChangedTimes(slots) }
        return report
    }

    /// Returns the answer about the time before a window that was answered. It is the one that was asked for, unless that window is
    /// wider than the query's.
    private func before(
        _ base: ComparisonBase, _ window: TimeWindow, _ answer: Answer, in storage: some Storage
    ) async throws -> StatisticsAnswer {
        let before = base.query(before: query, answeredFor: window)
        let isTheSame = window == base.query(after: query).window
        return try await storage.inBlocks(
            before, isTheSame ? try answer.get() : try await storage.statistics(before.inBlocks))
    }
}

extension StatisticsQuery {
    /// The query of all groups in the blocks of a comparison (``ComparisonBlocks``).
    fileprivate var inBlocks: StatisticsQuery {
        cut(into: ComparisonBlocks(window, slot: ComparisonBlocks.slot(for: window)))
    }
}

extension Storage {
    /// Returns an answer in blocks, or a new one in longer blocks if the store keeps a part of the window in longer slots alone.
    fileprivate func inBlocks(_ query: StatisticsQuery, _ answer: StatisticsAnswer) async throws -> StatisticsAnswer {
        guard let finest = answer.slots?.grid.finest, finest > ComparisonBlocks.slot(for: query.window) else {
            return answer
        }
        return try await statistics(query.cut(into: ComparisonBlocks(answer.window, slot: finest)))
    }
}
