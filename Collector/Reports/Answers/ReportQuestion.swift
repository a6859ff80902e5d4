import MartletStorage

/// A report that is wanted, as queries that are asked together with others.
package struct ReportQuestion: Sendable {
    package typealias Answer = Result<StatisticsAnswer, TooManyGroups>

    /// Rows that are compared at least, in the report's order, if a limit shows fewer. Rows past the report's limit are compared
    /// too, so that one that is worse is shown; the bound keeps a report of ten thousands of rows cheap.
    package static let maxComparedRows = 50

    private var query: StatisticsQuery
    private let base: ComparisonBase?
    /// Whether the rows that are compared are asked for with their figures.
    private var hasFigures = false
    /// Whether the window is the one that the store has answered.
    private var isWider = false
    /// The blocks after and before; `nil` to cut the window as if the store had all slots.
    private var blocks: [ComparisonBlocks?] = [nil, nil]

    /// - Parameter base: the requests that the report's are compared with; `nil` for none.
    package init(_ query: StatisticsQuery, comparedWith base: ComparisonBase? = nil) {
        self.query = query
        self.query.slotScale = TrendStep.scale
        self.base = base
    }

    /// The queries, which are asked first in a call (``WantedGroups``). With a comparison these are the rows after and before, those of
    /// both in blocks after and before, and the rows after in slots.
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

    /// Returns the report of the answers to ``queries``. Throws ``TooManyGroups`` if there are too many rows.
    ///
    /// - Parameter storage: asked again if it keeps other figures of these rows than were expected.
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

    /// The same question, asked for the figures of rows at once.
    private var whole: ReportQuestion {
        var question = self
        question.hasFigures = true
        return question
    }

    /// Returns the query of the rows that are compared, without slots. The answer in blocks has their figures, so they are not asked
    /// for twice.
    private func ranking(_ query: StatisticsQuery) -> StatisticsQuery {
        var ranking = query
        ranking.limit = query.limit.map { max($0, Self.maxComparedRows) }
        (ranking.step, ranking.hasFigures) = (nil, hasFigures)
        return ranking
    }

    /// Returns the question about the slots that the store has, where they are longer than was expected; `nil` if they are not. The
    /// window is then wider, or the blocks are longer.
    private func fitted(to answers: [Answer], _ base: ComparisonBase) throws -> ReportQuestion? {
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
    /// Returns the query of the groups of other answers, all of them.
    fileprivate func ofAnswers(_ indexes: [Int]) -> StatisticsQuery {
        var query = self
        (query.groups, query.limit) = (.ofAnswers(indexes), nil)
        return query
    }

    /// The same query, when the figures of whole groups are known.
    fileprivate var ofSlotsAlone: StatisticsQuery {
        var query = self
        query.hasFigures = false
        return query
    }
}

extension StatisticsAnswer {
    /// Takes the figures of the same groups from another answer about the same window. Returns `false` if that answer is of other
    /// requests, because a point came between the two.
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
    /// - Parameter base: the requests that the report's are compared with; `nil` for none. If the query has a limit, rows past it
    ///   are compared as well, up to ``ReportQuestion/maxComparedRows``.
    package func report(_ query: StatisticsQuery, comparedWith base: ComparisonBase? = nil) async throws -> Report {
        let question = ReportQuestion(query, comparedWith: base)
        return try await question.report(of: try await statistics(question.queries), in: self)
    }
}
