import MartletStorage
import MartletTelemetry

/// The rows that make up a window: rows of hours where those replace the points as they arrived, and these points elsewhere. No
/// point is in both.
struct PointSource {
    /// The window of the figures: the requested window, widened to whole hours where there are only hours.
    let window: TimeWindow
    /// The times before which only hours are left.
    let expired: ExpiredTimes
    /// The hours of metrics that are read from `version_hour` although their points still exist.
    var earlyHours: [UInt32] = []
    /// The services with points of spans: see ``servicesWithSpans(where:_:)``.
    var spanServices: [String] = []
    /// The time since when the instance of each request is known, for a query that needs it. Nanoseconds since 1970.
    var sendersSince: Int64?
    /// The end of the hours that are read from `version_hour`, and not from `hour`, where only hours are left.
    private let endOfVersions: Int64

    init(_ window: TimeWindow, _ rolled: RolledHours) {
        let end = rolled.end * StoredHour.length
        expired = ExpiredTimes(fine: end, minutes: end)
        endOfVersions = rolled.ofVersions * StoredHour.length
        self.window = WindowRanges(window, expired: expired).window
    }

    /// The expression for the value of a dimension in a row, as a text; `''` if it is absent. Hours have no instances, so it is that
    /// for all requests before ``sendersSince``.
    func expression(of dimension: Dimension) -> String {
        guard dimension == .instance, let since = sendersSince else { return dimension.expression }
        return "if(end_ns > \(since), instance, '')"
    }

    /// Returns the value that a text of ``expression(of:)`` represents.
    func value(of dimension: Dimension, _ text: String) -> String? {
        let mayBeUnknown = dimension == .instance && sendersSince.map { $0 > Int64(clamping: window.from) } ?? false
        return mayBeUnknown ? text.presence : dimension.value(of: text)
    }

    /// Returns SELECT statements, joined by UNION ALL, for the rows that match a filter and a further condition.
    ///
    /// Spans do not count where metrics of the same process, kind and system cover them: see ``MetricsCover``. Hours were built by
    /// the same rule.
    func rows(_ columns: String, of filter: RequestFilter, where further: String) -> String {
        let known = filter.wanted[.instance] == nil ? nil : sendersSince.map { " AND end_ns > \($0)" }
        let condition = "\(filter.condition) AND \(further)\(known ?? "")"
        let (from, to) = (Int64(clamping: window.from), Int64(clamping: window.to))
        var parts: [String] = []
        for (table, start, end) in [
            (Schema.versionHour, 0, endOfVersions), (Schema.hour, endOfVersions, expired.fine),
        ] where max(from, start) < min(to, end) {
            let times = Self.times(max(from, start), min(to, end))
            parts.append("SELECT \(columns) FROM \(table.name) FINAL WHERE \(times) AND \(condition)")
        }
        if !earlyHours.isEmpty {
            let early = SQLText.list(earlyHours.map(UInt64.init))
            parts.append(
                "SELECT \(columns) FROM version_hour FINAL WHERE hour IN \(early) AND spans = 0 AND \(condition)")
        }
        if to > expired.fine {
            parts += Self.pointRows(
                columns, where: "\(Self.times(max(from, expired.fine), to)) AND \(condition)",
                ofMetrics: otherHours(max(from, expired.fine), to), spansOf: spanServices,
                from: max(from, expired.fine), to: to)
        }
        // An empty window may lie in hours of which nothing else is left.
        if parts.isEmpty { parts = ["SELECT \(columns) FROM point WHERE 0"] }
        return parts.joined(separator: " UNION ALL ")
    }

    /// Returns the statements for the rows of `point` and `difference` in a range of time.
    ///
    /// - Parameters:
    ///   - metrics: a further condition for points of metrics as they arrived; `nil` for none of these points.
    ///   - services: the services with points of spans.
    static func pointRows(
        _ columns: String, where condition: String, ofMetrics metrics: String? = "1", spansOf services: [String],
        from: Int64, to: Int64
    ) -> [String] {
        let asTheyCame = metrics.map { "SELECT \(columns) FROM point FINAL WHERE spans = 0 AND \($0) AND \(condition)" }
        return [
            asTheyCame,
            // A difference that no longer applies has been replaced by an empty one.
            "SELECT \(columns) FROM difference FINAL WHERE (count > 0 OR sent > 0 OR received > 0) AND \(condition)",
            services.isEmpty ? nil : spanRows(columns, where: condition, of: services, from: from, to: to),
        ].compactMap(\.self)
    }

    /// Returns the services with points of spans. There are few, because most senders have metrics.
    static func servicesWithSpans(where condition: String, _ client: ClickHouseClient) async throws -> [String] {
        try await client.texts("service", "FROM point WHERE spans = 1 AND \(condition)", distinct: true)
    }

    private static func spanRows(
        _ columns: String, where condition: String, of services: [String], from: Int64, to: Int64
    ) -> String {
        [("NOT (\(unanswered) AND \(failed))", "1"), ("\(unanswered) AND \(failed)", unanswered)].map {
            spans, metrics in
            spanRows(
                columns, where: "\(condition) AND \(spans)", notCoveredBy: metrics, of: services, from: from, to: to)
        }.joined(separator: " UNION ALL ")
    }

    /// The conditions of ``RequestClass/isUnansweredSpan``. The first one is also about metrics.
    private static let unanswered = "kind = '\(RequestKind.client.rawValue)' AND status = 0 AND system = ''"
    private static let failed =
        "outcome IN \(SQLText.list(RequestOutcome.allCases.filter { $0.isFailure(for: .client) }.map { UInt64($0.code) }))"

    /// - Parameter metrics: a condition for the metrics that cover the spans.
    private static func spanRows(
        _ columns: String, where condition: String, notCoveredBy metrics: String, of services: [String], from: Int64,
        to: Int64
    ) -> String {
        let (lead, patience) = (Int64(clamping: MetricsCover.lead), Int64(clamping: MetricsCover.patience))
        // Metrics with long intervals end after the spans that they cover.
        let coverTimes = times(max(0, from - 2 * patience), to > .max - 48 * patience ? .max : to + 24 * patience)
        let cover = "\(coverTimes) AND service IN \(SQLText.list(services)) AND \(metrics)"
        return """
            SELECT \(columns) FROM (SELECT \(Schema.point.columnList) FROM point FINAL WHERE spans = 1 AND \(condition)) AS span_points \
            ANY LEFT JOIN (SELECT service, instance, kind, system, groupArray(cover_from) AS covers_from, groupArray(cover_to) AS covers_to \
            FROM (SELECT service, instance, kind, system, hour, min(start_ns) - \(lead) AS cover_from, \
            max(end_ns) + \(patience) AS cover_to \
            FROM (\(covering("point", cover)) UNION ALL \(covering("difference", cover))) \
            GROUP BY service, instance, kind, system, hour) \
            GROUP BY service, instance, kind, system) AS covers USING (service, instance, kind, system) \
            WHERE NOT arrayExists((f, t) -> end_ns >= f AND end_ns <= t, covers_from, covers_to)
            """
    }

    /// Returns the condition that a row's hour is not an early one; `nil` if all hours are early ones.
    private func otherHours(_ from: Int64, _ to: Int64) -> String? {
        let (first, last) = (max(0, from) / StoredHour.length, Int64(UInt32(hourOf: to)))
        return Self.hours(from: first, through: last, without: earlyHours)
    }

    private static func covering(_ table: String, _ condition: String) -> String {
        """
        SELECT service, instance, kind, system, hour, start_ns, end_ns FROM \(table) \
        WHERE spans = 0 AND count > 0 AND \(condition)
        """
    }

    /// Returns the condition that a row's hour is in a range and not one of some others, in ascending order; `nil` if none is. It
    /// has ranges that ClickHouse looks up in a table's key.
    static func hours(from first: Int64, through last: Int64, without others: [UInt32]) -> String? {
        var (first, ranges) = (first, [String]())
        for hour in others.map(Int64.init) + [last + 1] {
            if first < hour { ranges.append("hour BETWEEN \(first) AND \(hour - 1)") }
            first = max(first, hour + 1)
        }
        return ranges.isEmpty ? nil : "(\(ranges.joined(separator: " OR ")))"
    }

    /// Returns the condition that a row's interval ends after `from` and at or before `to`.
    static func times(_ from: Int64, _ to: Int64) -> String {
        "hour BETWEEN \(max(0, from) / StoredHour.length) AND \(UInt32(hourOf: to)) AND end_ns > \(from) AND end_ns <= \(to)"
    }
}
