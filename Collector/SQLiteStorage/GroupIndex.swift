import MartletStorage

/// The groups of a query, found by the values of its dimensions.
struct GroupIndex {
    /// As they were met.
    var groups: [RequestGroup] = []
    private var places: [[String?]: Int] = [:]
    private let maxGroups: Int

    init(maxGroups: Int) {
        self.maxGroups = maxGroups
    }

    /// Where in ``groups`` the one of these values is, which is made where there is none.
    mutating func place(of values: [String?]) throws(TooManyGroups) -> Int {
        if let known = places[values] { return known }
        guard groups.count < maxGroups else { throw TooManyGroups(limit: maxGroups) }
        places[values] = groups.count
        groups.append(RequestGroup(values: values))
        return groups.count - 1
    }
}
