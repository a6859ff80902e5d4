/// The groups that a query is about. Nothing else counts, to its totals neither.
package enum WantedGroups: Sendable, Equatable {
    case all
    /// The groups with these values.
    case named([[String?]])
    /// The groups of the answers to queries that are asked before it in the same call, by their indexes. Those have the same
    /// dimensions, and take no groups of answers themselves.
    case ofAnswers([Int])

    package var isOfAnswers: Bool {
        if case .ofAnswers = self { true } else { false }
    }
}

extension StatisticsQuery {
    /// Returns the query with the values of the groups that it wants. Throws the failure of an answer that it takes groups of.
    ///
    /// - Parameter answers: those to other queries, by the indexes of these.
    package func naming(
        groupsOf answers: [Int: Result<StatisticsAnswer, TooManyGroups>]
    ) throws(TooManyGroups) -> StatisticsQuery {
        guard case .ofAnswers(let indexes) = groups else { return self }
        var (named, known) = ([[String?]](), Set<[String?]>())
        for index in indexes {
            for group in try answers[index]?.get().groups ?? [] where known.insert(group.values).inserted {
                named.append(group.values)
            }
        }
        var query = self
        query.groups = .named(named)
        return query
    }
}
