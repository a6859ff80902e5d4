import MartletStorage

/// The queries of a report, so that one call can ask them together with those of other reports.
package struct ReportQuery: Sendable {
    package typealias Answer = Result<StatisticsAnswer, TooManyGroups>

    /// At least this many rows are compared, in the report's order, even if a limit shows fewer. So a worse row beyond the
    /// limit is found and shown. Not all rows are compared, so that a report of tens of thousands of rows stays cheap.
    package static let minComparedRows = 50
    /// No report compares more rows, because each costs the reading of its past once an hour.
    private static let maxComparedRows = RowHistories.maxRows

    private var query: StatisticsQuery
    private let base: ComparisonBase?
    /// Whether the window is the wider one that the store answered for.
    private var isWider = false
    /// The length of the slots in which rows are compared, if the store has no shorter ones; otherwise `nil`.
    private var step: UInt64?

    /// - Parameter base: the requests to compare the report's with; `nil` for none.
    package init(_ query: StatisticsQuery, comparedWith base: ComparisonBase? = nil) {
        self.query = query
        self.query.slotScale = TrendStep.scale
        self.base = base
    }

    /// The queries, which have to come first in a call (``WantedGroups``). With a comparison these are the rows after and before,
    /// the figures before of the rows of both, the rows in the slots of both windows (``ComparedSlots``), and the rows after in the
    /// slots of their trends.
    package var queries: [StatisticsQuery] {
        guard let base else { return [query] }
        let (after, before) = sides(base, answeredFor: nil)
        let inSlots = ComparedSlots(after.window, base, step: step)
            .queries(.ofAnswers([0, 1]), after: after, before: before)
        let trends = query.step == nil ? [] : [after.ofAnswers([0]).ofCounts]
        return [ranking(after), ranking(before).ofCounts, before.ofAnswers([0, 1]).withoutSlots] + inSlots + trends
    }

    /// Returns the report from the answers to ``queries``. Throws ``TooManyGroups`` if there are too many rows.
    ///
    /// - Parameters:
    ///   - storage: queried again if it has longer slots than expected, and for times of changes.
    ///   - histories: the pasts of rows in this store; `nil` to read those that are needed.
    package func report(
        of answers: [Answer], in storage: some Storage, _ histories: RowHistories? = nil
    ) async throws -> Report {
        var after = try answers[0].get()
        guard let base else { return Report(after, for: query) }
        guard after.groups.count <= Self.maxComparedRows else { throw TooManyGroups(limit: Self.maxComparedRows) }
        if let fitted = try fitted(to: answers, base) {
            return try await fitted.report(of: storage.statistics(fitted.queries), in: storage, histories)
        }
        var before = try answers[1].get()
        let earlier = before.takeFigures(of: try answers[2].get())
        let (queryAfter, queryBefore) = sides(base, answeredFor: after.window)
        let reading = ComparisonReading(
            after: queryAfter, before: queryBefore, base: base,
            slots: ComparedSlots(after.window, base, step: step), storage: storage,
            histories: histories ?? RowHistories(of: storage))
        let rows = ComparedRows(
            after: after.groups.map(\.values),
            others: try await reading.present(before.groups.map(\.values), answers[3], besides: after))
        let verdicts = try await reading.comparison(
            of: after.groups.map { ($0, earlier[$0.values]) }, Array(answers[3...4]))
        let shown = rows.shown(verdicts, limit: query.limit)
        after.groups = shown.map { after.groups[$0] }
        if query.step != nil, let slots = try answers[5].get().slots {
            after.slots = GroupSlots(after.groups, of: slots.groups, in: slots.grid)
        }
        var report = Report(after, for: base.query(after: query))
        report.compare(rows, verdicts, shown, with: before, earlier, base, limit: query.limit)
        return report
    }

    /// Returns the queries of both windows.
    ///
    /// - Parameter window: the window that was answered; `nil` for that of the query.
    private func sides(
        _ base: ComparisonBase, answeredFor window: TimeWindow?
    ) -> (after: StatisticsQuery, before: StatisticsQuery) {
        var after = base.query(after: query)
        if let window { after.window = window }
        return (after, base.query(before: query, answeredFor: after.window))
    }

    /// Returns the query of the compared rows, without slots.
    private func ranking(_ query: StatisticsQuery) -> StatisticsQuery {
        var ranking = query.withoutSlots
        ranking.limit = query.limit.map { max($0, Self.minComparedRows) }
        return ranking
    }

    /// Returns the report query with a wider window or longer slots, if the store has no shorter ones; otherwise `nil`.
    private func fitted(to answers: [Answer], _ base: ComparisonBase) throws -> ReportQuery? {
        var fitted = self
        let window = try answers[0].get().window
        if !isWider, window != base.query(after: query).window {
            (fitted.query.window, fitted.isWider) = (window, true)
            return fitted
        }
        let steps = answers[3...4].compactMap { try? $0.get().slots?.grid.step }
        let step = ComparedSlots(window, base, step: step).step
        guard let longest = steps.max(), longest > step else { return nil }
        fitted.step = longest
        return fitted
    }
}

extension StatisticsQuery {
    /// Returns the query of all groups of other answers.
    fileprivate func ofAnswers(_ indexes: [Int]) -> StatisticsQuery {
        var query = self
        (query.groups, query.limit) = (.ofAnswers(indexes), nil)
        return query
    }

    /// The same query, but without figures that do not order the groups.
    fileprivate var ofCounts: StatisticsQuery {
        var query = self
        query.hasFigures = false
        return query
    }

    fileprivate var withoutSlots: StatisticsQuery {
        var query = self
        query.step = nil
        return query
    }
}

extension StatisticsAnswer {
    /// Copies the figures of the same groups from another answer. Returns all groups of that answer by their values.
    fileprivate mutating func takeFigures(of other: StatisticsAnswer) -> [[String?]: RequestGroup] {
        let known = Dictionary(other.groups.map { ($0.values, $0) }) { first, _ in first }
        groups = groups.map { known[$0.values] ?? $0 }
        return known
    }
}

extension Storage {
    /// Returns the report on a query.
    ///
    /// - Parameters:
    ///   - base: the requests to compare the report's with; `nil` for none. If the query has a limit, rows beyond it are compared as
    ///     well, up to ``ReportQuery/minComparedRows``.
    ///   - histories: the pasts of rows in this store; `nil` to read those that are needed.
    package func report(
        _ query: StatisticsQuery, comparedWith base: ComparisonBase? = nil, _ histories: RowHistories? = nil
    ) async throws -> Report {
        let question = ReportQuery(query, comparedWith: base)
        return try await question.report(of: try await statistics(question.queries), in: self, histories)
    }
}
