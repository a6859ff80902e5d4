/// Conditions that divide the points of an hour into parts, so that each is made by a statement within its time limit.
enum HourParts {
    private typealias Services = (last: String, points: UInt64)

    /// Returns a condition for each part; none for an hour without points.
    ///
    /// - Parameter maxPoints: points of a part, roughly.
    static func conditions(of hour: Int64, maxPoints: UInt64, _ client: ClickHouseClient) async throws -> [String] {
        let services = try await client.rows(
            """
            SELECT service, sum(c) FROM (\
            SELECT service, count() AS c FROM point WHERE hour = \(hour) GROUP BY service UNION ALL \
            SELECT service, count() AS c FROM difference WHERE hour = \(hour) GROUP BY service) GROUP BY service ORDER BY service
            """
        ) { Services(last: try $0.text(), points: try $0.number()) }
        var parts: [Services] = []
        for one in services {
            if let part = parts.last, part.points + one.points <= maxPoints {
                parts[parts.count - 1] = (one.last, part.points + one.points)
            } else {
                parts.append(one)
            }
        }
        return parts.indices.flatMap { index in
            // The first part and the last one have no bound, so a service that comes meanwhile is in one of them.
            let lower = index > 0 ? "service > \(SQLText.quoted(parts[index - 1].last))" : "1"
            let upper = index + 1 < parts.count ? "service <= \(SQLText.quoted(parts[index].last))" : "1"
            let count = max(1, parts[index].points / maxPoints)
            return (0..<count).map { "\(lower) AND \(upper) AND sender % \(count) = \($0)" }
        }
    }
}
