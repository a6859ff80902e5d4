import MartletStorage
import MartletTelemetry

extension Report {
    /// - Parameter query: the query that the answer is for.
    package init(_ answer: StatisticsAnswer, for query: StatisticsQuery) {
        let (window, rated) = (answer.window, answer.ratedWindow)
        let total = answer.total
        self.init(
            from: TimeText.format(window.from), to: TimeText.format(window.to), by: query.by,
            ratesSince: answer.ratesSince, step: answer.slots.map { Double($0.grid.step) / 1e9 },
            completeness: answer.account.completeness, unwatched: UnwatchedTime(answer.account),
            uncountedSenders: answer.account.uncountedSenders > 0 ? answer.account.uncountedSenders : nil,
            clocksAhead: ClocksAhead(answer.account),
            damagedPoints: answer.damagedPoints > 0 ? answer.damagedPoints : nil,
            rowCount: answer.groupCount,
            rows: answer.groups.indices.map { index in
                ReportRow(
                    answer.groups[index], by: query.by, in: rated, among: total,
                    trend: answer.slots.map { ReportRow.Trend($0.groups[index]) }, account: answer.account)
            },
            totals: ReportRow(total, by: [], in: rated, among: total),
            totalsByKind: answer.totals.mapValues { ReportRow($0, by: [], in: rated, among: total) })
    }
}

extension StatisticsAnswer {
    /// The time since which rates count, RFC 3339, UTC; `nil` if it is the window's beginning.
    var ratesSince: String? { ratedWindow == window ? nil : TimeText.format(ratedWindow.from) }

    /// All requests, of both kinds.
    var total: RequestGroup { totals.values.reduce(into: RequestGroup(values: [])) { $0.merge($1) } }
}

extension ReportRow {
    init(
        _ group: RequestGroup, by dimensions: [Dimension], in window: TimeWindow, among total: RequestGroup,
        trend: Trend? = nil, account: WindowAccount? = nil
    ) {
        self.init(
            dimensions: Dictionary(zip(dimensions, group.values)) { first, _ in first },
            measures: group.measures(seconds: window.seconds),
            lastSeen: group.latestEnd > 0 ? TimeText.format(min(group.latestEnd, window.to)) : nil, trend: trend)
        measures.impact = group.impact(among: total)
        if dimensions.contains(.service) { completeness = account?.services[text(of: .service)]?.completeness }
        let arrived = dimensions.contains(.service) ? completeness : account?.completeness
        p99Bounds = arrived.flatMap { Bounds(of: 0.99, group, completeness: $0) }
    }

    /// Returns the row's value of a dimension; empty if it has none.
    package func text(of dimension: Dimension) -> String {
        (dimensions[dimension] ?? nil) ?? ""
    }
}

extension ReportRow.Trend {
    init(_ slots: [RequestGroup]) {
        self.init(
            count: slots.map(\.count), failed: slots.map(\.failedCount), p95: slots.map { $0.milliseconds(0.95) })
    }
}
