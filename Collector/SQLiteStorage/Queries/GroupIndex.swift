import MartletStorage

/// The groups of a query, found by the values of its dimensions.
struct GroupIndex {
    /// The groups in the order of their first point.
    var groups: [RequestGroup] = []
    private var indexes: [[String?]: Int] = [:]
    private let maxGroups: Int

    init(maxGroups: Int) {
        self.maxGroups = maxGroups
    }

    /// Returns the index in ``groups`` of the group with these values, which is created if it is missing.
    mutating func index(of values: [String?]) throws(TooManyGroups) -> Int {
        if let known = indexes[values] { return known }
        guard groups.count < maxGroups else { throw TooManyGroups(limit: maxGroups) }
        indexes[values] = groups.count
        groups.append(RequestGroup(values: values))
        return groups.count - 1
    }
}
