import MartletStorage

/// The groups of a query, found by the values of its dimensions.
struct GroupIndex {
    /// The values of each group.
    private(set) var values: [[String?]] = []
    private var indexes: [[String?]: Int] = [:]
    /// Groups at most; `nil` if no group is added.
    private let maxGroups: Int?
    /// The groups that each of them counts for.
    private let slots: Int

    /// Creates an index without groups, which are added as they are met.
    ///
    /// - Parameters:
    ///   - maxGroups: slots of groups at most.
    ///   - slots: the slots of a group; 1 if it has none.
    init(maxGroups: Int, slots: Int) {
        self.maxGroups = maxGroups
        self.slots = max(1, slots)
    }

    /// Creates an index of these groups alone.
    init(of groups: [RequestGroup]) {
        (maxGroups, slots) = (nil, 1)
        values = groups.map(\.values)
        indexes = Dictionary(zip(values, values.indices)) { first, _ in first }
    }

    /// Returns the index of the group with these values; `nil` if the query leaves it out.
    mutating func index(of values: [String?]) throws(TooManyGroups) -> Int? {
        if let known = indexes[values] { return known }
        guard let maxGroups else { return nil }
        guard self.values.count < maxGroups / slots else { throw TooManyGroups(limit: maxGroups) }
        indexes[values] = self.values.count
        self.values.append(values)
        return self.values.count - 1
    }
}
