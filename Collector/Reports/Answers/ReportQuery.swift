import MartletStorage

/// The queries of a report, so that one call can ask them together with those of other reports.
package struct ReportQuery: Sendable {
    package typealias Answer = Result<StatisticsAnswer, TooManyGroups>

    /// At least this many rows are compared, in the report's order, even if a limit shows fewer. So a worse row beyond the
    /// limit is found and shown. Not all rows are compared, so that a report of tens of thousands of rows stays cheap.
    package static let maxComparedRows = 50

    private var query: StatisticsQuery
    private let base: ComparisonBase?
    /// Whether the queries for the compared rows ask for their figures.
    private var hasFigures = false
    /// Whether the window is the wider one that the store answered for.
    private var isWider = false
    /// The blocks of the report's window and of the earlier one; `nil` divides the window as if the store had slots of all
    /// lengths.
    private var blocks: [ComparisonBlocks?] = [nil, nil]

    /// - Parameter base: the requests to compare the report's with; `nil` for none.
    package init(_ query: StatisticsQuery, comparedWith base: ComparisonBase? = nil) {
        self.query = query
        self.query.slotScale = TrendStep.scale
        self.base = base
    }

    /// The queries, which have to come first in a call (``WantedGroups``). With a comparison these are the rows after and before,
    /// the rows of both in blocks after and before, and the rows after in slots.
    package var queries: [StatisticsQuery] {
        guard let base else { return [query] }
        let after = base.query(after: query)
        let sides = [after, base.query(before: query, answeredFor: after.window)]
        let inBlocks = zip(sides, blocks).map { side, blocks in
            side.ofAnswers([0, 1])
                .cut(into: blocks ?? ComparisonBlocks(side.window, slot: ComparisonBlocks.slot(for: side.window)))
        }
        let inSlots = query.step == nil ? [] : [after.ofAnswers([0]).ofSlotsAlone]
        return sides.map(ranking) + inBlocks + inSlots
    }

    /// Returns the report from the answers to ``queries``. Throws ``TooManyGroups`` if there are too many rows.
    ///
    /// - Parameter storage: queried again if its answers do not fit together or it has longer slots than expected.
    package func report(of answers: [Answer], in storage: some Storage) async throws -> Report {
        var after = try answers[0].get()
        guard let base else { return Report(after, for: query) }
        if let fitted = try fitted(to: answers, base) {
            return try await fitted.report(of: storage.statistics(fitted.queries), in: storage)
        }
        var before = try answers[1].get()
        let rows = ComparedRows(after: after.groups, before: before.groups)
        let blocks = try (after: answers[2].get(), before: answers[3].get())
        guard hasFigures || after.takeFigures(of: blocks.after) && before.takeFigures(of: blocks.before) else {
            return try await whole.report(of: storage.statistics(whole.queries), in: storage)
        }
        let verdicts = Comparison(of: rows.rows(after: blocks.after, before: blocks.before))
        let shown = rows.shown(verdicts, limit: query.limit)
        after.groups = shown.map { after.groups[$0] }
        if query.step != nil, let slots = try answers[4].get().slots {
            after.slots = GroupSlots(after.groups, of: slots.groups, in: slots.grid)
        }
        var report = Report(after, for: base.query(after: query))
        report.compare(
            rows, verdicts, shown, in: blocks.after, with: before, in: blocks.before, base, limit: query.limit)
        if let slots = after.slots { report.addChangedTimes(slots) }
        return report
    }

    /// The same report query, but the queries for the compared rows ask for their figures.
    private var whole: ReportQuery {
        var question = self
        question.hasFigures = true
        return question
    }

    /// Returns the query of the compared rows, without slots. It does not ask for their figures, because the answer in blocks has
    /// them.
    private func ranking(_ query: StatisticsQuery) -> StatisticsQuery {
        var ranking = query
        ranking.limit = query.limit.map { max($0, Self.maxComparedRows) }
        (ranking.step, ranking.hasFigures) = (nil, hasFigures)
        return ranking
    }

    /// Returns the report query with a wider window or longer blocks, if the store's slots are longer than expected; otherwise
    /// `nil`.
    private func fitted(to answers: [Answer], _ base: ComparisonBase) throws -> ReportQuery? {
        var fitted = self
        let window = try answers[0].get().window
        if !isWider, window != base.query(after: query).window {
            (fitted.query.window, fitted.isWider) = (window, true)
            return fitted
        }
        for (side, answer) in zip(blocks.indices, answers[2...]) where blocks[side] == nil {
            let answer = try answer.get()
            guard let finest = answer.slots?.grid.finest, finest > ComparisonBlocks.slot(for: answer.window) else {
                continue
            }
            fitted.blocks[side] = ComparisonBlocks(answer.window, slot: finest)
        }
        return fitted.blocks == blocks ? nil : fitted
    }
}

extension StatisticsQuery {
    /// Returns the query of all groups of other answers.
    fileprivate func ofAnswers(_ indexes: [Int]) -> StatisticsQuery {
        var query = self
        (query.groups, query.limit) = (.ofAnswers(indexes), nil)
        return query
    }

    /// The same query, but only for slots, because the figures of whole groups are known.
    fileprivate var ofSlotsAlone: StatisticsQuery {
        var query = self
        query.hasFigures = false
        return query
    }
}

extension StatisticsAnswer {
    /// Copies the figures of the same groups from another answer about the same window. Returns `false` if a point arrived between
    /// the two answers, so that they count different requests.
    fileprivate mutating func takeFigures(of other: StatisticsAnswer) -> Bool {
        guard window == other.window else { return false }
        let known = Dictionary(other.groups.map { ($0.values, $0) }) { first, _ in first }
        for index in groups.indices {
            guard let group = known[groups[index].values],
                (group.count, group.failedCount) == (groups[index].count, groups[index].failedCount)
            else { return false }
            groups[index] = group
        }
        return true
    }
}

extension Storage {
    /// Returns the report on a query.
    ///
    /// - Parameter base: the requests to compare the report's with; `nil` for none. If the query has a limit, rows beyond it
    ///   are compared as well, up to ``ReportQuery/maxComparedRows``.
    package func report(_ query: StatisticsQuery, comparedWith base: ComparisonBase? = nil) async throws -> Report {
        let question = ReportQuery(query, comparedWith: base)
        return try await question.report(of: try await statistics(question.queries), in: self)
    }
}
