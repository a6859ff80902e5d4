import GRDB
import MartletStorage

/// The first groups by a quantile, if there are more groups than may have sketches at a time. After a pass that finds all groups,
/// each portion of them is summed in a separate pass.
struct PortionedRanking {
    private let query: StatisticsQuery
    private let sums: GroupSums
    private let source: Int
    private let expired: ExpiredTimes
    private let limits: SQLiteLimits

    /// - Parameters:
    ///   - sums: the groups, which are only ranked.
    ///   - source: the index of these sums in their pass.
    init(
        _ query: StatisticsQuery, of sums: GroupSums, _ source: Int, _ expired: ExpiredTimes, _ limits: SQLiteLimits
    ) {
        (self.query, self.sums, self.source) = (query, sums, source)
        (self.expired, self.limits) = (expired, limits)
    }

    /// Returns the first groups, in order.
    func groups(after passes: [ChunkPass], in db: Database) throws -> [RequestGroup] {
        var first: [RequestGroup] = []
        // Groups that differ only in their kind are one group of the answer, so they belong to one portion.
        var rest = Array(Set(sums.rankedValues.map { Array($0.prefix(query.by.count)) }))[...]
        while !rest.isEmpty {
            let portion = Array(rest.prefix(limits.maxGroups))
            rest = rest.dropFirst(portion.count)
            var selected = [sums.selecting(portion, query, isInSlots: false, expired, limits)]
            try ChunkPass.add(toSelected: &selected, of: [source], after: passes, in: db)
            let answer = StatisticsAnswer(
                query, window: sums.window, sums: selected[0].sums, account: WindowAccount(sums.window))
            first = query.order.first(query.limit, of: first + answer.groups)
        }
        return first
    }
}

extension GroupSums {
    /// Whether the figures that rank the groups do not order them as the query asks.
    func needsPortions(for query: StatisticsQuery) -> Bool { isRanking && query.order.measure.needsBuckets }
}

extension Result<StatisticsAnswer, TooManyGroups> {
    /// Returns the answer with the first groups of a ranking.
    func ordered(by ranking: PortionedRanking, after passes: [ChunkPass], in db: Database) throws -> Self {
        guard case .success(var answer) = self else { return self }
        answer.groups = try ranking.groups(after: passes, in: db)
        return .success(answer)
    }
}
