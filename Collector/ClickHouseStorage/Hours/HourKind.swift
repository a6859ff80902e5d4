/// The kinds of hours that are made of points.
enum HourKind {
    /// The points of metrics, soon after the hour: see ``EarlyHours``.
    case early
    /// All points and the figures of processes, before these are deleted.
    case whole

    /// The table of the hours that were made.
    var table: Table {
        switch self {
        case .early: Schema.madeHour
        case .whole: Schema.wholeHour
        }
    }

    /// The condition on the rows of `changed_hour` that tell of its points.
    var changes: String { self == .early ? "metrics = 1" : "1" }

    /// Whether an hour is made only after nothing came for a while. A whole one is made in any case, because a week is read as hours
    /// only when all of them are made.
    var needsQuiet: Bool { self == .early }

    /// Returns the hour to make first: the latest of the early ones, which most reports are of; any of the whole ones, so that
    /// collectors mostly make different ones.
    func first(of hours: some Collection<UInt32>) -> UInt32? { self == .early ? hours.max() : hours.randomElement() }

    /// Returns the statements that make an hour.
    ///
    /// - Parameter maxPoints: points of a statement, roughly.
    func statements(for hour: Int64, maxPoints: UInt64, _ client: ClickHouseClient) async throws -> [String] {
        let columns = Schema.point.columnList
        switch self {
        case .early:
            return try await HourParts.conditions(of: hour, maxPoints: maxPoints, client).map { part in
                let rows = "SELECT \(columns) FROM point FINAL WHERE spans = 0 AND hour = \(hour) AND \(part)"
                return HourStatement.sql(of: hour, rows: rows)
            }
        case .whole:
            let processes = HourStatement.ofProcesses(in: hour)
            if try await Self.isWholeEarly(hour, client) { return [processes] }
            let (from, to) = (hour * StoredHour.length, (hour + 1) * StoredHour.length)
            let services = try await PointSource.servicesWithSpans(where: "hour = \(hour)", client)
            return try await HourParts.conditions(of: hour, maxPoints: maxPoints, client).map { part in
                let rows = PointSource.pointRows(
                    columns, where: "hour = \(hour) AND \(part)", spansOf: services, from: from, to: to)
                return HourStatement.sql(of: hour, rows: rows.joined(separator: " UNION ALL "))
            } + [processes]
        }
    }

    /// Whether an hour that was made early has all points.
    private static func isWholeEarly(_ hour: Int64, _ client: ClickHouseClient) async throws -> Bool {
        guard try await HourRevisions.read(hour, .early, client)?.holds == true else { return false }
        let others = try await client.rows(
            """
            SELECT sum(c) FROM (SELECT count() AS c FROM point WHERE spans = 1 AND hour = \(hour) \
            UNION ALL SELECT count() AS c FROM difference WHERE hour = \(hour))
            """
        ) { try $0.number(UInt64.self) }
        return others == [0]
    }
}
