import MartletStorage

/// The groups of a query, found by the values of its dimensions.
struct GroupIndex {
    /// As they were met.
    var groups: [RequestGroup] = []
    private var places: [[String?]: Int] = [:]

    /// Where in ``groups`` the one of these values is, which is made where there is none.
    mutating func place(of values: [String?]) -> Int {
        if let known = places[values] { return known }
        places[values] = groups.count
        groups.append(RequestGroup(values: values))
        return groups.count - 1
    }
}
