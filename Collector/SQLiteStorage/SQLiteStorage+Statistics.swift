import GRDB
import MartletStorage
import MartletTelemetry

extension SQLiteStorage {
    package func statistics(_ query: StatisticsQuery) async throws -> StatisticsAnswer {
        try await health.watching {
            try await pool.read { [limits] db in
                let expired = try ExpiredRows.times(in: db)
                if let step = query.step, query.limit == nil {
                    return try Self.answerInSlots(to: query, step, expired, limits, db)
                }
                var sums = GroupSums(by: query.grouping, query.filter, limits)
                let counted = WindowRanges(query.window, expired: expired)
                for range in counted.ranges { try sums.add(range, in: db) }
                var answer = StatisticsAnswer(
                    query, window: counted.window, sums: sums.sums,
                    account: try Completeness.account(in: counted.window, query.filter, in: db),
                    damagedPoints: sums.damagedPoints)
                if let step = query.step {
                    let grid = SlotGrid(counted.window, step: step, endingAt: query.slotEnd, expired: expired)
                    guard
                        answer.groups.count.multipliedReportingOverflow(by: grid.count).partialValue <= limits.maxGroups
                    else { throw TooManyGroups(limit: limits.maxGroups) }
                    answer.slots = try Self.slots(of: answer.groups, query, in: grid, expired, limits, db)
                }
                return answer
            }
        }
    }

    /// Answers a query for all groups with slots: it goes through the points once, because the slots of a group add up to it.
    private static func answerInSlots(
        to query: StatisticsQuery, _ step: UInt64, _ expired: ExpiredTimes, _ limits: SQLiteLimits, _ db: Database
    ) throws -> StatisticsAnswer {
        let window = WindowRanges(query.window, expired: expired).window
        let grid = SlotGrid(window, step: step, endingAt: query.slotEnd, expired: expired)
        var sums = GroupSums(by: query.grouping, query.filter, limits, in: grid)
        for range in WindowRanges(window, expired: expired, step: grid.granularity).ranges {
            try sums.add(range, in: db)
        }
        let slots = sums.slots
        var answer = StatisticsAnswer(
            query, window: window, sums: slots.map { $0.merged },
            account: try Completeness.account(in: window, query.filter, in: db), damagedPoints: sums.damagedPoints)
        answer.slots = GroupSlots(answer.groups, of: slots, in: grid)
        return answer
    }

    package func account(in window: TimeWindow, _ filter: RequestFilter) async throws -> WindowAccount {
        try await health.watching {
            try await pool.read { db in
                let counted = WindowRanges(window, expired: try ExpiredRows.times(in: db))
                return try Completeness.account(in: counted.window, filter, in: db)
            }
        }
    }

    /// Goes through the points once more, because the answer's groups are known only after the first time.
    private static func slots(
        of groups: [RequestGroup], _ query: StatisticsQuery, in grid: SlotGrid, _ expired: ExpiredTimes,
        _ limits: SQLiteLimits, _ db: Database
    ) throws -> GroupSlots {
        var sums = GroupSums(by: query.by, query.filter, of: groups, limits, in: grid)
        let ranges = WindowRanges(grid.window, expired: expired, step: grid.granularity).ranges
        for range in ranges { try sums.add(range, in: db) }
        return GroupSlots(grid: grid, groups: sums.slots)
    }
}

extension [RequestGroup] {
    /// The sum of a group's slots.
    fileprivate var merged: RequestGroup {
        dropFirst().reduce(into: self[0]) { $0.merge($1) }
    }
}

extension GroupSlots {
    /// - Parameters:
    ///   - groups: the groups of an answer.
    ///   - slots: the slots of finer groups, which have further values at the end.
    fileprivate init(_ groups: [RequestGroup], of slots: [[RequestGroup]], in grid: SlotGrid) {
        let indexes = Dictionary(groups.enumerated().map { ($1.values, $0) }) { first, _ in first }
        var sums = groups.map { Array(repeating: RequestGroup(values: $0.values), count: grid.count) }
        for slots in slots {
            guard let first = slots.first,
                let index = indexes[Array(first.values.prefix(groups.first?.values.count ?? 0))]
            else { continue }
            for (slot, group) in slots.enumerated() where !group.isEmpty { sums[index][slot].merge(group) }
        }
        self.init(grid: grid, groups: sums)
    }
}
