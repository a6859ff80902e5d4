import MartletStorage

/// The kinds of hours that are built from points.
enum HourKind {
    /// Built from points of metrics and readings of ledgers soon after the hour: see ``EarlyHours``.
    case early
    /// Built from all points and figures of processes before these are deleted.
    case whole

    /// The table that lists the hours that have been built.
    var table: Table {
        switch self {
        case .early: Schema.earlyVersionHour
        case .whole: Schema.wholeVersionHour
        }
    }

    /// The condition that selects the rows of `changed_hour` for this kind.
    var changes: String { self == .early ? "metrics = 1" : "1" }

    /// Whether an hour is built only after nothing has arrived for a while. A whole hour is built in any case, because a week
    /// is read as hours only once all of its hours have been built.
    var needsQuiet: Bool { self == .early }

    /// Returns the hour to build first. For early hours it is the latest, which most reports use. For whole hours it is a
    /// random one, so that collectors usually build different hours.
    func first(of hours: some Collection<UInt32>) -> UInt32? { self == .early ? hours.max() : hours.randomElement() }

    /// Returns the source of an hour: the rows of `hour`, if an older Martlet has rolled up its points; otherwise the points.
    func source(of hour: Int64, _ client: ClickHouseClient) async throws -> HourSource {
        guard self == .whole, try await client.rolledHours().isOnlyOfProcesses(hour) else { return .points }
        return .hoursOfProcesses
    }

    /// Returns the statements that build an hour.
    ///
    /// - Parameter maxPoints: the approximate number of rows that one statement adds up.
    func statements(
        for hour: Int64, from source: HourSource, maxPoints: UInt64, _ client: ClickHouseClient
    ) async throws -> [String] {
        var statements = try await LedgerSource.statements(for: hour, maxRows: maxPoints, client)
        if self == .whole, source == .points {
            statements.append(HourStatement.ofProcesses(in: hour))
            if try await Self.isWholeEarly(hour, client) { return statements }
        }
        let rows = try await rows(of: hour, from: source, client)
        let parts = try await HourParts.conditions(of: hour, in: source.tables, maxPoints: maxPoints, client)
        return statements + parts.map { HourStatement.sql(of: hour, rows: rows($0)) }
    }

    /// Returns the SELECT of the rows of an hour that match a further condition.
    private func rows(
        of hour: Int64, from source: HourSource, _ client: ClickHouseClient
    ) async throws -> (String) -> String {
        let columns = Schema.point.columnList
        let condition = "hour = \(hour)\(self == .early ? " AND spans = 0" : "")"
        if self == .early || source == .hoursOfProcesses {
            return { "SELECT \(columns) FROM \(source.tables[0].name) FINAL WHERE \(condition) AND \($0)" }
        }
        let (from, to) = (hour * StoredHour.length, (hour + 1) * StoredHour.length)
        let services = try await PointSource.servicesWithSpans(where: condition, client)
        return {
            PointSource.pointRows(columns, where: "\(condition) AND \($0)", spansOf: services, from: from, to: to)
                .joined(separator: " UNION ALL ")
        }
    }

    /// Whether an early hour contains all points.
    private static func isWholeEarly(_ hour: Int64, _ client: ClickHouseClient) async throws -> Bool {
        guard try await HourRevisions.read(hour, .early, client)?.holds == true else { return false }
        let others: [UInt64] = try await client.numbers(
            "sum(c)",
            """
            FROM (SELECT count() AS c FROM point WHERE spans = 1 AND hour = \(hour) \
            UNION ALL SELECT count() AS c FROM difference WHERE hour = \(hour))
            """)
        return others == [0]
    }
}

/// The rows that an hour is built from.
enum HourSource {
    case points
    case hoursOfProcesses

    /// The tables with the rows of metrics.
    var tables: [Table] { self == .points ? [Schema.point, Schema.difference] : [Schema.hour] }
}
