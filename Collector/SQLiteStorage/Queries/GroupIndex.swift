import MartletStorage
import MartletTelemetry

/// The groups of a query, found by the values of its dimensions.
struct GroupIndex {
    /// The values of each group.
    private(set) var values: [[String?]] = []
    private var indexes: [[String?]: Int] = [:]
    /// The first values of the groups that are wanted; `nil` for all.
    private let wanted: Set<[String?]>?
    /// The number of these values.
    private let wantedValues: Int
    private let maxGroups: Int
    /// The groups that each of them counts for.
    private let slots: Int

    /// Creates an index without groups, which are added as they are met.
    ///
    /// - Parameters:
    ///   - maxGroups: slots of groups at most.
    ///   - slots: the slots of a group; 1 if it has none.
    init(of query: StatisticsQuery, maxGroups: Int, slots: Int) {
        wanted = if case .named(let values) = query.groups { Set(values) } else { nil }
        wantedValues = query.by.count
        self.maxGroups = maxGroups
        self.slots = max(1, slots)
    }

    /// Returns the index of the group with these values; `nil` if the query leaves it out.
    mutating func index(of values: [String?]) throws(TooManyGroups) -> Int? {
        // Most groups are not wanted, where some are.
        if let wanted, !wanted.contains(values.count == wantedValues ? values : Array(values.prefix(wantedValues))) {
            return nil
        }
        if let known = indexes[values] { return known }
        // Wanted groups were counted before, without the kinds that each of them may be of.
        let most = maxGroups / slots * (wanted == nil ? 1 : RequestKind.allCases.count)
        guard self.values.count < most else { throw TooManyGroups(limit: maxGroups) }
        indexes[values] = self.values.count
        self.values.append(values)
        return self.values.count - 1
    }
}
