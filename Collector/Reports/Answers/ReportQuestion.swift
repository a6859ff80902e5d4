import MartletStorage

/// A report that is wanted, as queries that are asked together with others.
package struct ReportQuestion: Sendable {
    package typealias Answer = Result<StatisticsAnswer, TooManyGroups>

    /// Rows that are compared at least, in the report's order, if a limit shows fewer. Rows past the report's limit are compared
    /// too, so that a change among them is told; the bound keeps a report of ten thousands of rows cheap.
    package static let maxComparedRows = 100

    private var query: StatisticsQuery
    private let base: ComparisonBase?
    /// Whether the rows that are compared are asked for with their distributions.
    private var hasDistributions = false

    /// - Parameter base: the requests that the report's are compared with; `nil` for none.
    package init(_ query: StatisticsQuery, comparedWith base: ComparisonBase? = nil) {
        self.query = query
        self.query.slotScale = TrendStep.scale
        self.base = base
    }

    /// The query of the rows, and with a comparison that of the rows before.
    package var queries: [StatisticsQuery] {
        guard let base else { return [query] }
        let asked = base.query(after: query)
        return [asked, base.query(before: query, answeredFor: asked.window)].map(ranking)
    }

    /// Returns the report of the answers to ``queries``. Throws ``TooManyGroups`` if there are too many rows.
    ///
    /// - Parameter storage: asked for the rows in slots and blocks.
    package func report(of answers: [Answer], in storage: some Storage) async throws -> Report {
        var after = try answers[0].get()
        guard let base else { return Report(after, for: query) }
        var before = try await self.before(base, after.window, answers[1], in: storage)
        let rows = ComparedRows(after: after.groups, before: before.groups)
        after.groups = Array(after.groups.prefix(query.limit ?? after.groups.count))
        let inBlocks = [base.query(after: query), base.query(before: query, answeredFor: after.window)]
            .map { $0.selecting(rows.all).inBlocks }
        // The rows in slots are asked for together with the blocks, because both are of the same points.
        let shown = base.query(after: query).selecting(after.groups.map(\.values))
        let inSlots = query.step == nil ? [] : [shown.ofSlotsAlone]
        let parts = try await storage.statistics(inBlocks + inSlots)
        let blocks = try await (
            after: storage.inBlocks(inBlocks[0], parts[0].get()), before: storage.inBlocks(inBlocks[1], parts[1].get())
        )
        guard hasDistributions || after.takeBuckets(of: blocks.after) && before.takeBuckets(of: blocks.before) else {
            return try await whole.report(of: storage.statistics(whole.queries), in: storage)
        }
        if let answer = try parts.dropFirst(2).first?.get() {
            after.slots = answer.slots.map { GroupSlots(after.groups, of: $0.groups, in: $0.grid) }
        }
        var report = Report(after, for: base.query(after: query))
        report.compare(rows, in: blocks.after, with: before, in: blocks.before, base, limit: query.limit)
        if let slots = after.slots { report.addChangedTimes(slots) }
        return report
    }

    /// The same question, asked for the distributions of rows at once.
    private var whole: ReportQuestion {
        var question = self
        question.hasDistributions = true
        return question
    }

    /// Returns the query of the rows that are compared, without slots. The blocks of these rows have their distributions, so they
    /// are not asked for twice.
    private func ranking(_ query: StatisticsQuery) -> StatisticsQuery {
        var ranking = query
        ranking.limit = query.limit.map { max($0, Self.maxComparedRows) }
        (ranking.step, ranking.hasDistributions) = (nil, hasDistributions)
        return ranking
    }

    /// Returns the answer about the time before a window that was answered. It is the one that was asked for, unless that window is
    /// wider than the query's.
    private func before(
        _ base: ComparisonBase, _ window: TimeWindow, _ answer: Answer, in storage: some Storage
    ) async throws -> StatisticsAnswer {
        let isTheSame = window == base.query(after: query).window
        let before = base.query(before: query, answeredFor: window)
        return isTheSame ? try answer.get() : try await storage.statistics(ranking(before))
    }
}

extension StatisticsQuery {
    /// Returns the query of these groups, all of them.
    fileprivate func selecting(_ groups: [[String?]]) -> StatisticsQuery {
        var query = self
        (query.groups, query.limit) = (groups, nil)
        return query
    }

    /// The same query, when the distributions of whole groups are known.
    fileprivate var ofSlotsAlone: StatisticsQuery {
        var query = self
        query.hasDistributions = false
        return query
    }

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

extension StatisticsAnswer {
    /// Takes the distributions of the same groups from another answer about the same window. Returns `false` if that answer is of
    /// other requests, because a point came between the two, or has coarser buckets.
    fileprivate mutating func takeBuckets(of other: StatisticsAnswer) -> Bool {
        guard window == other.window else { return false }
        let known = Dictionary(other.groups.map { ($0.values, $0) }) { first, _ in first }
        for index in groups.indices {
            guard let group = known[groups[index].values], groups[index].hasBuckets(in: group) else { return false }
            groups[index].takeBuckets(of: group)
        }
        return true
    }
}
