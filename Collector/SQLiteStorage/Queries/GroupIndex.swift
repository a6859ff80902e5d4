import MartletStorage

/// The groups of a query, found by the values of its dimensions.
struct GroupIndex {
    /// The values of each group.
    private(set) var values: [[String?]] = []
    private var indexes: [[String?]: Int] = [:]
    /// Groups at most; `nil` if no group is added.
    private let maxGroups: Int?

    /// Creates an index without groups, which are added as they are met.
    init(maxGroups: Int) {
        self.maxGroups = maxGroups
    }

    /// Creates an index of these groups alone.
    init(of groups: [RequestGroup]) {
        maxGroups = nil
        values = groups.map(\.values)
        indexes = Dictionary(zip(values, values.indices)) { first, _ in first }
    }

    /// Returns the index of the group with these values; `nil` if the query leaves it out.
    mutating func index(of values: [String?]) throws(TooManyGroups) -> Int? {
        if let known = indexes[values] { return known }
        guard let maxGroups else { return nil }
        guard self.values.count < maxGroups else { throw TooManyGroups(limit: maxGroups) }
        indexes[values] = self.values.count
        self.values.append(values)
        return self.values.count - 1
    }
}
