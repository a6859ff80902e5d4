import MartletStorage

/// The reading of what the verdicts on rows need.
struct ComparisonReading: Sendable {
    /// The queries of both windows.
    let after: StatisticsQuery
    let before: StatisticsQuery
    let base: ComparisonBase
    let slots: ComparedSlots
    let storage: any Storage
    let histories: RowHistories

    /// The rows of a report: its figures after, and before if there are any.
    typealias Row = (after: RequestGroup, before: RequestGroup?)

    /// Returns the verdicts on rows, and when they changed.
    ///
    /// - Parameter answers: the answers to the queries for the slots of all rows; an error if there are too many.
    func comparison(of rows: [Row], _ answers: [ReportQuery.Answer]) async throws -> Comparison {
        let judged = try await judge(rows, in: try await counted(rows, answers))
        var judgements = judged.rows
        // Two versions in the same window did not change at some time.
        let wanted = judgements.indices.filter {
            slots.isLater && (judgements[$0].change != nil || judgements[$0].mayFailSinceAMinute(rows[$0].after))
        }
        let minutes = try await minutes(of: wanted.map { rows[$0].after.values })
        var times: [Int: ChangedTime] = [:]
        for index in wanted {
            let history = minutes.rows.map { $0.history(rows[index].after.values, above: judged.bounds[index]) }
            if judgements[index].change != nil {
                times[index] = judgements[index].changed(in: history, minutes.slots, of: after.window)
            } else if minutes.slots.step == ComparedSlots.minute {
                let history = history ?? judged.histories[index]
                times[index] = judgements[index].judge(firstMinutes: history, minutes.slots, of: after.window)
            }
        }
        var comparison = Comparison(judgements.map(\.verdict), pastHours: judged.pastHours)
        for (index, time) in times { comparison.set(time, of: index) }
        return comparison
    }

    /// Returns the slots of all rows. If there are too many for one answer, they are read in portions.
    private func counted(_ rows: [Row], _ answers: [ReportQuery.Answer]) async throws -> SlotsOfRows {
        var found = SlotsOfRows(slots)
        let values = rows.map(\.after.values)
        if let answers = try? answers.map({ try $0.get() }), found.add(answers) { return found }
        return try await storage.slots(of: values, slots, after: after, before: before) ?? found
    }

    /// Returns which rows of the earlier window have requests in the compared one.
    ///
    /// - Parameters:
    ///   - answer: the answer with these rows in slots of the compared window; an error if there are too many.
    ///   - first: the first rows of the compared window.
    func present(
        _ rows: [[String?]], _ answer: ReportQuery.Answer, besides first: StatisticsAnswer
    ) async throws -> Set<[String?]> {
        guard first.groups.count < first.groupCount else { return [] }
        if let answer = try? answer.get() { return Set(answer.groups.map(\.values)) }
        var query = after
        (query.groups, query.limit, query.step, query.hasFigures) = (.named(rows), nil, nil, false)
        return Set(try await storage.statistics(query).groups.map(\.values))
    }

    private struct Judged {
        var rows: [RowJudgement] = []
        var histories: [RowHistory] = []
        var bounds: [[Double]] = []
        var pastHours = 0
    }

    private func judge(_ rows: [Row], in counted: SlotsOfRows) async throws -> Judged {
        let pasts = try await pasts(of: rows.map(\.after.values))
        var judged = Judged()
        for (index, row) in rows.enumerated() {
            let (past, noise) = pasts.map { ($0[index].past, $0[index].noise) } ?? (RowPast.none, nil)
            let bounds = past.bounds.isEmpty ? counted.bounds(row.after.values) : past.bounds
            let history = counted.history(row.after.values, above: bounds, after: past.history)
            let windows = ComparedWindows(history, slots, noise: noise, before: row.before, after: row.after)
            let judgement = RowJudgement(
                windows, bounds: bounds, before: row.before, after: row.after, isContiguous: slots.isContiguous)
            judged.rows.append(judgement)
            judged.histories.append(history)
            judged.bounds.append(bounds)
            if windows.noise(.failures, slots: slots.length).isKnown {
                judged.pastHours = max(judged.pastHours, past.history.count * past.history.slotMinutes / 60)
            }
        }
        return judged
    }

    /// Returns `nil` if pasts do not count.
    private func pasts(of rows: [[String?]]) async throws -> [(past: RowPast, noise: RowNoise)]? {
        guard slots.pastsCount else { return nil }
        var query = after
        query.window = slots.after
        return try await histories.pastsWithNoise(of: rows, query, slotMinutes: slots.stepMinutes)
    }

    /// Returns rows in slots that show the times of changes, and these slots; no rows if the slots of the verdicts are those.
    private func minutes(of rows: [[String?]]) async throws -> (slots: ComparedSlots, rows: SlotsOfRows?) {
        guard slots.needMinutes, !rows.isEmpty else { return (slots, nil) }
        let minutes = ComparedSlots(after.window, base, step: ComparedSlots.minute, pastsCount: false)
        let found = try await storage.slots(of: rows, minutes, after: after, before: before)
        return found.map { (minutes, $0) } ?? (slots, nil)
    }
}

extension SlotsOfRows {
    /// Returns the durations above which requests of a row without a past are slow.
    func bounds(_ row: [String?]) -> [Double] {
        let (before, after) = self[row]
        let bounds = RequestSignal.bounds(of: before)
        return bounds.isEmpty ? RequestSignal.bounds(of: after) : bounds
    }

    /// Returns the slots of a row after its past.
    func history(_ row: [String?], above bounds: [Double], after past: RowHistory = RowPast.none.history) -> RowHistory
    {
        let (before, after) = self[row]
        return past.continued(
            with: (before + after).map { $0.signalCounts(above: bounds) },
            first: Int(slots.before.from / slots.step), slotMinutes: slots.stepMinutes, taking: slots.slotsOfPast)
    }
}
