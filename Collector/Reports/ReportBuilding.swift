import MartletStorage

extension Report {
    package init(_ answer: StatisticsAnswer, for request: ReportRequest) {
        var total = RequestGroup(values: [])
        // By their places: a copy of a group costs as much as what is done with it.
        for place in answer.groups.indices { total.merge(answer.groups[place]) }
        let query = request.query
        let seconds = query.window.seconds
        let time = total.statistics.duration.sum
        let rows = answer.groups.indices.map { place in
            ReportRow(
                dimensions: Dictionary(zip(query.by, answer.groups[place].values)) { first, _ in first },
                measures: RequestMeasures(answer.groups[place], seconds: seconds, timeOfAll: time))
        }
        self.init(
            from: TimeText.format(query.window.from), to: TimeText.format(query.window.to), by: query.by,
            completeness: answer.completeness, damagedPoints: answer.damagedPoints > 0 ? answer.damagedPoints : nil,
            rows: Self.sorted(rows, for: request),
            totals: ReportRow(dimensions: [:], measures: RequestMeasures(total, seconds: seconds, timeOfAll: time)))
    }

    /// Rows of one rank stand in the order of their dimensions, so that the same figures give the same report.
    private static func sorted(_ rows: [ReportRow], for request: ReportRequest) -> [ReportRow] {
        let values = rows.map { request.sort.value(of: $0) }
        // Their places, which are moved more easily than rows.
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
    /// Empty for none.
    func text(of dimension: Dimension) -> String {
        (dimensions[dimension] ?? nil) ?? ""
    }
}
