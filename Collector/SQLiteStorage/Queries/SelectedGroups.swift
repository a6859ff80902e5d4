import GRDB
import MartletStorage
import MartletTelemetry

/// The groups that are known after a pass over all points: those that the limits of queries have left, and those that queries take
/// from other answers (``WantedGroups``). Their figures and slots are added up in a second pass.
struct SelectedGroups {
    private struct Part {
        let query: StatisticsQuery
        /// The index of the query.
        let index: Int
        let contents: Contents

        func completed(
            _ answer: StatisticsAnswer, by sums: GroupSums
        ) -> Result<StatisticsAnswer, TooManyGroups> {
            if let failure = sums.failure { return .failure(failure) }
            var answer = answer
            if contents == .slots {
                answer.slots = sums.grid.map { GroupSlots(answer.groups, of: sums.slots, in: $0) }
            } else {
                answer.takeGroups(sums.sums, query)
            }
            return .success(answer)
        }
    }

    private enum Contents {
        /// The figures of the groups of an answer.
        case figures
        /// The slots of the groups of an answer.
        case slots
        /// An answer of its own.
        case answer
    }

    private var parts: [Part] = []
    /// The sums of each part.
    private var sums: [GroupSums] = []
    /// The index of the sums from which each part's groups were selected; `nil` for groups that are looked up anew.
    private var sources: [Int?] = []

    /// Adds the groups of a limited query, of which its answer lacks a part.
    ///
    /// - Parameters:
    ///   - index: that of the query.
    ///   - source: the sums that the answer was made of, and their index.
    mutating func add(
        _ answer: StatisticsAnswer, to query: StatisticsQuery, at index: Int, of source: (sums: GroupSums, index: Int),
        _ expired: ExpiredTimes, _ limits: SQLiteLimits
    ) {
        let values = answer.groups.map(\.values)
        if source.sums.isRanking, query.hasFigures {
            let groups = source.sums.selecting(values, query, isInSlots: false, expired, limits)
            add(groups, Part(query: query, index: index, contents: .figures), source.index)
        }
        if query.step != nil {
            let groups = source.sums.selecting(values, query, isInSlots: true, expired, limits)
            add(groups, Part(query: query, index: index, contents: .slots), source.index)
        }
    }

    /// Adds the groups of a query, which have an answer of their own.
    ///
    /// - Parameters:
    ///   - index: that of the query.
    ///   - source: the index of the sums from which the groups were selected; `nil` for groups that are looked up anew.
    mutating func add(_ groups: GroupSums, to query: StatisticsQuery, at index: Int, source: Int?) {
        add(groups, Part(query: query, index: index, contents: .answer), source)
    }

    private mutating func add(_ groups: GroupSums, _ part: Part, _ source: Int?) {
        parts.append(part)
        sums.append(groups)
        sources.append(source)
    }

    /// Adds what the answers are missing.
    ///
    /// - Parameter passes: the first passes, which have kept their chunks.
    mutating func complete(
        _ answers: inout [Int: Result<StatisticsAnswer, TooManyGroups>], _ accounts: inout WindowAccounts,
        after passes: [ChunkPass], in db: Database
    ) throws {
        guard !sums.isEmpty else { return }
        try ChunkPass.add(toSelected: &sums, of: sources, after: passes, in: db)
        for (part, sums) in zip(parts, sums) {
            switch part.contents {
            case .answer: answers[part.index] = try sums.answer(to: part.query, &accounts, in: db)
            case .figures, .slots:
                answers[part.index] = answers[part.index]?.flatMap { part.completed($0, by: sums) }
            }
        }
    }
}
