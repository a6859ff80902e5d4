import MartletStorage

extension Report {
    package init(_ answer: StatisticsAnswer, for request: ReportRequest) {
        let (by, window) = (request.query.by, answer.window)
        var (total, rows) = (RequestGroup(values: []), [ReportRow]())
        rows.reserveCapacity(answer.groups.count)
        // One pass does both, while the group's buckets are in the processor's caches.
        for group in answer.groups {
            total.merge(group)
            rows.append(
                ReportRow(
                    dimensions: Dictionary(zip(by, group.values)) { first, _ in first },
                    measures: group.measures(seconds: window.seconds)))
        }
        var totals = ReportRow(dimensions: [:], measures: total.measures(seconds: window.seconds))
        for index in rows.indices { rows[index].measures.impact = answer.groups[index].impact(among: total) }
        totals.measures.impact = total.impact(among: total)
        self.init(
            from: TimeText.format(window.from), to: TimeText.format(window.to), by: by,
            completeness: answer.account.completeness, unwatched: UnwatchedTime(answer.account),
            damagedPoints: answer.damagedPoints > 0 ? answer.damagedPoints : nil,
            rows: Self.sorted(rows, for: request),
            totals: totals)
    }

    /// Sorts rows by the request, and rows of equal rank by their dimensions, so that the same figures give the same report.
    private static func sorted(_ rows: [ReportRow], for request: ReportRequest) -> [ReportRow] {
        let values = rows.map { request.sort.value(of: $0) }
        // The sort moves indexes, which is cheaper than moving rows.
        let sorted = rows.indices.sorted { one, other in
            let (a, b) = (values[one], values[other])
            guard a == b else { return request.ascending ? a < b : a > b }
            let by = request.query.by
            return by.map { rows[one].text(of: $0) }.lexicographicallyPrecedes(by.map { rows[other].text(of: $0) })
        }
        return sorted.prefix(request.top ?? rows.count).map { rows[$0] }
    }
}

extension ReportRow {
    /// Returns the row's value of a dimension; empty if it has none.
    func text(of dimension: Dimension) -> String {
        (dimensions[dimension] ?? nil) ?? ""
    }
}
