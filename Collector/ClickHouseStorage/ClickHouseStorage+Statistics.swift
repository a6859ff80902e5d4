import MartletStorage
import MartletTelemetry

extension ClickHouseStorage {
    /// The answers are not from exactly the same moment, because ClickHouse has no snapshot across statements.
    package func statistics(
        _ queries: [StatisticsQuery]
    ) async throws -> [Result<StatisticsAnswer, TooManyGroups>] {
        let rolled = try await client.rolledHours()
        var (answers, accounts) = ([Int: Result<StatisticsAnswer, TooManyGroups>](), WindowAccounts())
        for (index, query) in queries.enumerated() {
            do {
                answers[index] = try await answer(to: query.naming(groupsOf: answers), rolled, &accounts)
            } catch let failure as TooManyGroups {
                answers[index] = .failure(failure)
            }
        }
        let dataSince = try await dataSince(after: queries.map(\.window.from).min() ?? 0, rolled)
        return queries.indices.compactMap { index in
            let isFiltered = queries[index].filter.wanted[.instance] != nil
            return answers[index]?.map { answer in
                let isLate = dataSince.flatMap { first in answer.sendersSince.map { first >= $0 } } ?? false
                let sendersSince = isLate ? nil : answer.sendersSince
                return answer.with(
                    dataSince: isFiltered ? sendersSince ?? dataSince : dataSince, sendersSince: sendersSince)
            }
        }
    }

    /// Returns the time at which the store's points begin; `nil` if they begin in an hour before `time`, or if there are none.
    /// The first interval counts as at least as long as an agent's.
    private func dataSince(after time: UnixNanoseconds, _ rolled: RolledHours) async throws -> UnixNanoseconds? {
        let first = Int64(clamping: time) / StoredHour.length
        let tables = [
            ("version_hour", "hour < \(rolled.ofVersions)"),
            ("hour", "hour >= \(rolled.ofVersions) AND hour < \(rolled.ofProcesses)"), ("point", "1"),
            ("difference", "count > 0"),
        ]
        for (table, condition) in tables {
            let earlier: [UInt32] = try await client.numbers(
                "hour", "FROM \(table) WHERE hour < \(first) AND \(condition) LIMIT 1")
            guard earlier.isEmpty else { return nil }
        }
        let starts = tables.map {
            "SELECT min(least(start_ns, end_ns - \(Tier.fine.length))) AS start, count() AS points FROM \($0) "
                + "WHERE hour >= \(first) AND \($1)"
        }
        let found: Int64? = try await client.number(
            "min(start)", "FROM (\(starts.joined(separator: " UNION ALL "))) WHERE points > 0 HAVING count() > 0")
        return found.map { UnixNanoseconds(clamping: $0) }
    }

    package func account(in window: TimeWindow, _ filter: RequestFilter) async throws -> WindowAccount {
        let source = PointSource(window, try await client.rolledHours())
        return try await Completeness.account(in: source.window, filter, client)
    }

    private func answer(
        to query: StatisticsQuery, _ rolled: RolledHours, _ accounts: inout WindowAccounts
    ) async throws -> Result<StatisticsAnswer, TooManyGroups> {
        var source = PointSource(query.window, rolled)
        let (from, to) = (Int64(clamping: source.window.from), Int64(clamping: source.window.to))
        source.spanServices = try await PointSource.servicesWithSpans(
            where: "\(PointSource.times(from, to)) AND \(query.filter.senderCondition)", client)
        let grid = query.grid(in: source.window, source.expired)
        if query.needsSenders { source.sendersSince = max(source.expired.fine, try await endWithoutInstances()) }
        source = try await withEarlyHours(source, in: grid)
        let found =
            if let limit = query.limit, !query.by.isEmpty {
                try await ranked(query, limit, in: grid, from: source, &accounts)
            } else {
                try await unranked(query, in: grid, from: source, &accounts)
            }
        return found.map { answer in
            var answer = answer
            answer.sendersSince = source.sendersSince.map { UnixNanoseconds(clamping: $0) }
            return answer
        }
    }

    private func unranked(
        _ query: StatisticsQuery, in grid: SlotGrid?, from source: PointSource, _ accounts: inout WindowAccounts
    ) async throws -> Result<StatisticsAnswer, TooManyGroups> {
        let all = StatisticsStatement(query, by: query.grouping, in: grid, from: source, limit: limits.maxGroups)
        let groups: [[RequestGroup]]
        switch try await all.groups(client) {
        case .success(let found): groups = found
        case .failure(let failure): return .failure(failure)
        }
        let account = try await accounts.account(in: source.window, query.filter, client)
        if let grid { return .success(StatisticsAnswer(query, slots: groups, in: grid, account: account)) }
        return .success(StatisticsAnswer(query, window: source.window, sums: groups.map { $0[0] }, account: account))
    }

    /// - Parameter source: the source of the slots.
    private func ranked(
        _ query: StatisticsQuery, _ limit: Int, in grid: SlotGrid?, from source: PointSource,
        _ accounts: inout WindowAccounts
    ) async throws -> Result<StatisticsAnswer, TooManyGroups> {
        let found = try await ranked(query, limit, from: try await withEarlyHours(source, in: nil), &accounts)
        guard let grid, case .success(let answer) = found else { return found }
        return try await withSlots(answer, to: query, in: grid, from: source)
    }

    /// Returns the answer with the slots of its groups added.
    private func withSlots(
        _ answer: StatisticsAnswer, to query: StatisticsQuery, in grid: SlotGrid, from source: PointSource
    ) async throws -> Result<StatisticsAnswer, TooManyGroups> {
        let count = answer.groups.count.multipliedReportingOverflow(by: grid.count)
        guard !count.overflow, count.partialValue <= limits.maxGroups else {
            return .failure(TooManyGroups(limit: limits.maxGroups))
        }
        var (answer, query) = (answer, query)
        query.groups = .named(answer.groups.map(\.values))
        let statement = StatisticsStatement(query, by: query.by, in: grid, from: source, limit: limits.maxGroups)
        let found = answer.groups.isEmpty ? .success([]) : try await statement.groups(client)
        switch found {
        case .failure(let failure): return .failure(failure)
        case .success(let slots):
            let known = Dictionary(slots.map { ($0[0].values, $0) }) { first, _ in first }
            let empty = answer.groups.map { Array(repeating: RequestGroup(values: $0.values), count: grid.count) }
            answer.slots = GroupSlots(grid: grid, groups: empty.map { known[$0.first?.values ?? []] ?? $0 })
            return .success(answer)
        }
    }

    /// The first hour that is certainly not in a part being rolled up, even if clocks differ by an hour. In a part being rolled
    /// up, the rows of `version_hour` already include the differences of cumulative points, so reading early hours would count those
    /// twice.
    private var oldestEarlyHour: Int64 {
        let rolledUp = (Int64(clamping: now()) - limits.rawAge) / StoredHour.length + 1
        return max(0, rolledUp / Schema.hoursOfPart * Schema.hoursOfPart)
    }

    /// Returns the end of the latest early hour that is old enough for reports to read it without instances, as those of a file do.
    private func endWithoutInstances() async throws -> Int64 {
        let time = now()
        let hour = Int64(clamping: time - min(time, limits.retention.fine)) / StoredHour.length
        let found: UInt32? = try await client.number("max(hour)", "FROM early_version_hour WHERE hour < \(hour)")
        return found.flatMap { $0 > 0 ? (Int64($0) + 1) * StoredHour.length : nil } ?? 0
    }

    /// Returns the source with the valid early hours instead of others, unless slots begin within an hour.
    private func withEarlyHours(_ source: PointSource, in grid: SlotGrid?) async throws -> PointSource {
        var source = source
        source.earlyHours = []
        if let grid, grid.granularity % UInt64(StoredHour.length) > 0 { return source }
        let fine = UInt64(clamping: max(source.expired.fine, oldestEarlyHour * StoredHour.length))
        let end = source.sendersSince.map { UnixNanoseconds(clamping: $0) } ?? .max
        let window = TimeWindow(
            from: max(source.window.from, fine), to: max(min(source.window.to, end), fine))
        source.earlyHours = try await EarlyHours.holding(in: window, client)
        return source
    }
}
