import MartletStorage
import MartletTelemetry

/// The statements that order the groups of a query in ClickHouse. They read no sketches, so a fleet's groups are ordered at once,
/// and only the first are transferred.
struct RankingStatement {
    private let query: StatisticsQuery
    private let source: PointSource

    init(_ query: StatisticsQuery, from source: PointSource) {
        (self.query, self.source) = (query, source)
    }

    private static let figures: Selection = [
        "count": "sum(count)", "failed": "sumIf(count, \(failed))", "total": "sum(total)",
        "failed_total": "sumIf(total, \(failed))",
    ]

    /// The condition of failed requests. It is not a column of the rows, because 18.16 makes a constant of it where it can, and then
    /// refuses to join such rows with others.
    fileprivate static let failed = RequestKind.allCases.map { kind in
        let codes = RequestOutcome.allCases.filter { $0.isFailure(for: kind) }.map { UInt64($0.code) }
        return "(k = '\(kind.rawValue)' AND outcome IN \(SQLText.list(codes)))"
    }.joined(separator: " OR ")

    private var values: [String] { query.by.indices.map { "v\($0)" } }

    /// The rest of a statement on all groups with requests.
    private var groups: String {
        let columns = query.by.enumerated().map { "\(source.expression(of: $1)) AS v\($0)" } + ["kind AS k", "outcome"]
        let rows = source.rows(
            (columns + ["count", "total", "sent", "received"]).joined(separator: ", "), of: query.filter,
            where: query.groupCondition(in: source))
        return """
            FROM (\(rows)) GROUP BY \(values.joined(separator: ", ")) \
            HAVING sum(count) > 0 OR sum(sent) > 0 OR sum(received) > 0
            """
    }

    /// Returns the number of groups.
    func count(_ client: ClickHouseClient) async throws -> Int {
        try await client.count("FROM (SELECT \(values.joined(separator: ", ")) \(groups))")
    }

    /// Returns the first groups by a measure that needs no buckets, with counts and times.
    func first(_ limit: Int, _ client: ClickHouseClient) async throws -> [RequestGroup] {
        let direction = query.order.ascending ? "ASC" : "DESC"
        let order = (["\(query.order.measure.expression) \(direction)"] + values).joined(separator: ", ")
        return try await client.rows(
            Selection(values) + Self.figures, "\(groups) ORDER BY \(order) LIMIT \(limit)", group)
    }

    private func group(_ row: inout RowReader) throws -> RequestGroup {
        let values = try query.by.enumerated().map { source.value(of: $1, try row.text("v\($0)")) }
        let (count, failed): (UInt64, UInt64) = (try row.number("count"), try row.number("failed"))
        let (total, failedTotal) = (try row.double("total"), try row.double("failed_total"))
        var figures = RankFigures()
        figures.add(count &- failed, time: total - failedTotal, isFailure: false)
        figures.add(failed, time: failedTotal, isFailure: true)
        return RequestGroup(values: values, figures)
    }
}

extension GroupOrder.Measure {
    /// The expression of the measure for a group; a constant for a quantile.
    fileprivate var expression: String {
        switch self {
        case .impact: "sum(total)"
        case .count: "sum(count)"
        case .failures: "sumIf(count, \(RankingStatement.failed))"
        case .failureRate: "if(sum(count) = 0, 0, sumIf(count, \(RankingStatement.failed)) / sum(count))"
        case .p50, .p95, .p99, .max: "0"
        }
    }
}

/// Answers to queries with a limit.
extension ClickHouseStorage {
    func ranked(
        _ query: StatisticsQuery, _ limit: Int, from source: PointSource, _ accounts: inout WindowAccounts
    ) async throws -> Result<StatisticsAnswer, TooManyGroups> {
        let ranking = RankingStatement(query, from: source)
        var answer = try await totals(query, from: source, &accounts)
        if query.order.measure.needsBuckets {
            answer.groupCount = try await ranking.count(client)
            let portions = 2 * answer.groupCount / limits.maxGroups + 1
            for portion in 0..<portions {
                let part = try await groups(of: query, GroupPortion(index: portion, of: portions), from: source)
                answer.groups = query.order.first(limit, of: answer.groups + part)
            }
            return .success(answer)
        }
        // One more group shows whether the others have to be counted.
        let found = try await ranking.first(limit.addingReportingOverflow(1).partialValue, client)
        answer.groups = Array(found.prefix(limit))
        answer.groupCount = found.count <= limit ? found.count : try await ranking.count(client)
        guard query.hasFigures, !answer.groups.isEmpty else { return .success(answer) }
        guard answer.groups.count <= limits.maxGroups else {
            return .failure(TooManyGroups(limit: limits.maxGroups))
        }
        var named = query
        named.groups = .named(answer.groups.map(\.values))
        return try await statement(named, by: query.grouping, from: source).groups(client).map { sums in
            answer.takeGroups(sums.map { $0[0] }, query)
            return answer
        }
    }

    /// Returns the answer without its groups.
    private func totals(
        _ query: StatisticsQuery, from source: PointSource, _ accounts: inout WindowAccounts
    ) async throws -> StatisticsAnswer {
        let sums = try await statement(query, by: [.kind], from: source).groups(client).get().map { $0[0] }
        var byKind = query
        byKind.by = [.kind]
        let account = try await accounts.account(in: source.window, query.filter, client)
        var answer = StatisticsAnswer(byKind, window: source.window, sums: sums, account: account)
        (answer.groups, answer.groupCount) = ([], 0)
        return answer
    }

    /// Returns the groups of a portion with all figures, up to the limit. If the portion is too large, it is divided.
    private func groups(
        of query: StatisticsQuery, _ portion: GroupPortion, from source: PointSource
    ) async throws -> [RequestGroup] {
        var statement = statement(query, by: query.grouping, from: source)
        statement.portion = portion
        switch try await statement.groups(client) {
        case .success(let groups):
            return StatisticsAnswer(
                query, window: source.window, sums: groups.map { $0[0] }, account: WindowAccount(source.window)
            ).groups
        case .failure:
            let halves = portion.halves
            return try await groups(of: query, halves.0, from: source)
                + groups(of: query, halves.1, from: source)
        }
    }

    private func statement(
        _ query: StatisticsQuery, by dimensions: [Dimension], from source: PointSource
    ) -> StatisticsStatement {
        StatisticsStatement(query, by: dimensions, in: nil, from: source, limit: limits.maxGroups)
    }
}

/// A part of a query's groups, by a hash of their values.
struct GroupPortion {
    var index: Int
    /// The number of portions.
    var of: Int

    var halves: (GroupPortion, GroupPortion) {
        (GroupPortion(index: index, of: 2 * of), GroupPortion(index: index + of, of: 2 * of))
    }

    /// - Parameter expressions: those of the groups' values.
    func condition(_ expressions: [String]) -> String {
        "cityHash64(\(expressions.joined(separator: ", "))) % \(of) = \(index)"
    }
}
