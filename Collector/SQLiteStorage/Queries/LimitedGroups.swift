import GRDB
import MartletStorage
import MartletTelemetry

/// The groups that the limits of queries have left. Which ones these are is known after a pass over all points, so their
/// buckets and slots are added up in a second one.
struct LimitedGroups {
    private struct Part {
        let answer: Int
        let query: StatisticsQuery
        var isInSlots: Bool

        func completed(
            _ answer: StatisticsAnswer, by sums: GroupSums
        ) -> Result<StatisticsAnswer, TooManyGroups> {
            if let failure = sums.failure { return .failure(failure) }
            var answer = answer
            if isInSlots {
                answer.slots = sums.grid.map { GroupSlots(answer.groups, of: sums.slots, in: $0) }
            } else {
                answer.takeGroups(sums.sums, query)
            }
            return .success(answer)
        }
    }

    private var parts: [Part] = []
    /// The sums of each part.
    private var sums: [GroupSums] = []
    /// The index of the sums from which each part's groups were selected.
    private var sources: [Int] = []

    /// Finds what the answers are missing, and adds the buckets of their totals.
    ///
    /// - Parameter all: the sums that the answers were made of.
    init(
        _ queries: [StatisticsQuery], _ all: [GroupSums],
        _ answers: inout [Result<StatisticsAnswer, TooManyGroups>],
        _ expired: ExpiredTimes, _ limits: SQLiteLimits
    ) {
        for (index, query) in queries.enumerated() where query.limit != nil {
            guard case .success(var answer) = answers[index] else { continue }
            if let totals = all[index].totalBuckets {
                answer.takeTotals(totals)
                answers[index] = .success(answer)
            }
            if all[index].totalBuckets != nil, query.hasDistributions {
                parts.append(Part(answer: index, query: query, isInSlots: false))
                sums.append(all[index].selecting(answer.groups, query, isInSlots: false, expired, limits))
                sources.append(index)
            }
            if query.step != nil {
                parts.append(Part(answer: index, query: query, isInSlots: true))
                sums.append(all[index].selecting(answer.groups, query, isInSlots: true, expired, limits))
                sources.append(index)
            }
        }
    }

    /// Adds what the answers' groups are missing.
    ///
    /// - Parameter passes: the first passes, which have kept their chunks.
    mutating func complete(
        _ answers: inout [Result<StatisticsAnswer, TooManyGroups>], _ passes: [ChunkPass], in db: Database
    ) throws {
        guard !sums.isEmpty else { return }
        try ChunkPass.add(toSelected: &sums, of: sources, after: passes, in: db)
        for (part, sums) in zip(parts, sums) {
            answers[part.answer] = answers[part.answer].flatMap { part.completed($0, by: sums) }
        }
    }
}
