import GRDB
import MartletStorage
import MartletTelemetry

/// The answers to queries of one transaction: those about all groups from a first pass over the points, and what these select from a
/// second one.
struct StatisticsReading {
    private let queries: [StatisticsQuery]
    private let expired: ExpiredTimes
    private let limits: SQLiteLimits
    private let series: SeriesMemory
    private var accounts = WindowAccounts()
    private var known: [Int: Result<StatisticsAnswer, TooManyGroups>] = [:]

    init(_ queries: [StatisticsQuery], _ expired: ExpiredTimes, _ limits: SQLiteLimits, _ series: SeriesMemory) {
        (self.queries, self.expired, self.limits, self.series) = (queries, expired, limits, series)
    }

    /// Returns an answer to each query.
    mutating func answers(in db: Database) throws -> [Result<StatisticsAnswer, TooManyGroups>] {
        let first = queries.indices.filter { !queries[$0].groups.isOfAnswers }
        var sums = first.map { GroupSums(queries[$0], isInSlots: queries[$0].limit == nil, expired, limits, series) }
        let isKeeping = first.count < queries.count || queries.contains(where: \.needsSecondPass)
        let passes = try ChunkPass.add(to: &sums, isKeeping: isKeeping, in: db)
        for (index, sums) in zip(first, sums) {
            known[index] = try sums.answer(to: queries[index], &accounts, in: db)
        }
        var selected = SelectedGroups()
        for (source, index) in first.enumerated() where queries[index].limit != nil {
            guard case .success(let answer) = known[index] else { continue }
            selected.add(answer, to: queries[index], at: index, of: (sums[source], source), expired, limits)
        }
        for index in queries.indices where queries[index].groups.isOfAnswers {
            add(index, to: &selected, of: sums, of: first)
        }
        // The selected groups have copies of the lookups, so the memory of the other groups is free.
        sums = []
        try selected.complete(&known, &accounts, after: passes, in: db)
        let dataSince = try FirstData.start(expired, in: db)
        return queries.indices.compactMap { index in known[index]?.map { $0.with(dataSince: dataSince) } }
    }

    /// Adds a query about the groups of other answers.
    ///
    /// - Parameters:
    ///   - sums: those of the first pass.
    ///   - first: the indexes of their queries.
    private mutating func add(
        _ index: Int, to selected: inout SelectedGroups, of sums: [GroupSums], of first: [Int]
    ) {
        do {
            let query = try queries[index].naming(groupsOf: known)
            let source = sums.indices.first { sums[$0].canSelect(query, of: queries[first[$0]]) }
            if let source, case .named(let values) = query.groups {
                let groups = sums[source].selecting(
                    values, query, isInSlots: query.step != nil, hasWholes: query.hasFigures, expired, limits)
                selected.add(groups, to: query, at: index, source: source)
            } else {
                let groups = GroupSums(query, isInSlots: true, expired, limits, series)
                selected.add(groups, to: query, at: index, source: nil)
            }
        } catch {
            known[index] = .failure(error)
        }
    }
}

extension StatisticsQuery {
    /// Whether the points of the groups that the limit leaves may be read once more.
    fileprivate var needsSecondPass: Bool { limit != nil && (hasFigures || step != nil) }
}

/// The beginning of all points of a store. A chunk has the end of its points' intervals, which are as long as a slot of its tier at most:
/// an agent's are just as long.
private enum FirstData {
    /// Returns `nil` if the store has no points.
    static func start(_ expired: ExpiredTimes, in db: Database) throws -> UnixNanoseconds? {
        let statement = try db.cachedStatement(
            sql: "SELECT derived, end_time FROM chunk WHERE tier = ? AND rolled = ? ORDER BY end_time LIMIT 1")
        let chunks = Tier.allCases.flatMap { tier in [false, true].map { (tier: tier, isRolled: $0) } }
        let starts = try chunks.compactMap { tier, isRolled -> Int64? in
            guard let row = try Row.fetchOne(statement, arguments: [tier.rawValue, isRolled]) else { return nil }
            let (isDerived, end): (Bool, Int64) = (row[0], row[1])
            // The finer points that it was merged from begin more exactly, if they are still there.
            let finest = expired.finest(at: end - 1) ?? .fine
            return isDerived && finest.rawValue < tier.rawValue ? nil : end - tier.length
        }
        return starts.min().map { UnixNanoseconds(clamping: $0) }
    }
}
