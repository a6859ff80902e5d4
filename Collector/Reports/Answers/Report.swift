import MartletStorage
import MartletTelemetry

/// The figures that answer a query. The JSON is a fixed format.
package struct Report: Sendable, Equatable, Codable {
    /// The window of the figures (``StatisticsAnswer/window``), RFC 3339, UTC.
    package var from: String
    package var to: String
    package var by: [Dimension]
    /// The start of the time that `per_second` is computed over, RFC 3339, UTC: when the store's data begin. `nil`, and left
    /// out, if they begin before the window.
    package var ratesSince: String?
    /// The time since when requests have an instance, RFC 3339, UTC, if the rows or the filters have instances. Earlier requests are
    /// in rows without one. `nil`, and left out, if all requests of the window have an instance, or none has to.
    package var instancesSince: String?
    /// The length of a slot of the rows' trends, in seconds; `nil`, and left out, if the rows have no trends.
    package var step: Double?
    /// The share of captured requests that arrived, times the share of time in which capture was on, 0...1; `nil` if no agent
    /// reported for this time.
    @NullIfUnknown package var completeness: Double?
    /// `nil`, and left out, if capture was on all the time.
    package var unwatched: UnwatchedTime?
    /// The number of senders with points of cumulative counters that were not counted; `nil`, and left out, if there are none.
    package var uncountedSenders: Int?
    /// The number of senders that several processes share; `nil`, and left out, if there are none.
    package var sharedSenders: Int?
    /// `nil`, and left out, if no sender's clock is ahead.
    package var clocksAhead: FastClocks?
    /// The number of points that are missing from the figures because the disk returned damaged data; `nil`, and left out, if
    /// there are none.
    package var damagedPoints: Int?
    /// The number of rows, including those that `top` cut off.
    package var rowCount: Int
    package var rows: [ReportRow]
    /// The totals over all rows, including those that `top` cut off.
    package var totals: ReportRow
    /// The totals of clients and of servers, separate because both may have counted the same request. A kind without requests
    /// is missing.
    package var totalsByKind: [RequestKind: ReportRow]
    /// `nil`, and left out, if the rows are not compared.
    package var compare: ReportComparison?
    /// Why there are no rows; `nil`, and left out, if there are some.
    package var empty: NoResultsReason?
    /// Names in filters that no row has; `nil`, and left out, if there are none.
    package var unknownNames: [UnknownName]?

    private enum CodingKeys: String, CodingKey {
        case from, to, by, completeness, unwatched, rows, totals, compare, empty
        case ratesSince = "rates_since"
        case instancesSince = "instances_since"
        case step = "step_seconds"
        case uncountedSenders = "uncounted_senders"
        case sharedSenders = "shared_senders"
        case clocksAhead = "clocks_ahead"
        case damagedPoints = "damaged_points"
        case rowCount = "row_count"
        case totalsByKind = "totals_by_kind"
        case unknownNames = "unknown_names"
    }
}

extension RequestKind: Codable, CodingKeyRepresentable {}

extension Report {
    /// - Parameter query: the query that was answered.
    package init(_ answer: StatisticsAnswer, for query: StatisticsQuery) {
        let (window, rated) = (answer.window, answer.ratedWindow)
        let total = answer.total
        self.init(
            from: TimeText.exact(window.from), to: TimeText.exact(window.to), by: query.by,
            ratesSince: answer.ratesSince, instancesSince: answer.sendersSince.map(TimeText.exact),
            step: answer.slots.map { Double($0.grid.step) / 1e9 },
            completeness: answer.account.completeness, unwatched: UnwatchedTime(answer.account),
            uncountedSenders: answer.account.uncountedSenders > 0 ? answer.account.uncountedSenders : nil,
            sharedSenders: answer.account.sharedSenders > 0 ? answer.account.sharedSenders : nil,
            clocksAhead: FastClocks(answer.account),
            damagedPoints: answer.damagedPoints > 0 ? answer.damagedPoints : nil,
            rowCount: answer.groupCount,
            rows: answer.groups.indices.map { index in
                ReportRow(
                    answer.groups[index], by: query.by, in: answer.ratedWindow(of: answer.groups[index], by: query.by),
                    among: total,
                    trend: answer.slots.map { ReportRow.Trend($0.groups[index]) }, account: answer.account)
            },
            totals: ReportRow(total, by: [], in: rated, among: total),
            totalsByKind: answer.totals.mapValues { ReportRow($0, by: [], in: rated, among: total) })
    }
}

extension StatisticsAnswer {
    /// The start of the time that rates are computed over, RFC 3339, UTC; `nil` if it is the window's beginning.
    var ratesSince: String? { ratedWindow == window ? nil : TimeText.exact(ratedWindow.from) }

    /// Returns the time that the rate of a group refers to: if instances are known only since some time, the groups with and without
    /// one share the window.
    fileprivate func ratedWindow(of group: RequestGroup, by dimensions: [Dimension]) -> TimeWindow {
        guard let since = sendersSince, let index = dimensions.firstIndex(of: .instance) else { return ratedWindow }
        guard group.values[index] == nil else { return ratedWindow.since(since) }
        return TimeWindow(from: ratedWindow.from, to: min(since, ratedWindow.to))
    }

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

extension Report {
    /// A sentence about requests that rules changed, so that nobody mistakes a drill for an outage. `nil` if there are none, or if
    /// the rows name the rules.
    package var changedByRules: String? {
        guard let changed = totals.measures.changedByRules, !by.contains(.rule) else { return nil }
        let word = changed == totals.measures.count ? "all" : FigureText.grouped(changed)
        return "\(word) of these requests were changed by rules of their services; --by rule names them"
    }
}
