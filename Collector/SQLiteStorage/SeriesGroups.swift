/// The group of each series that was met, found fast where series are asked for in ascending order again and again, as chunks
/// have them.
struct SeriesGroups {
    /// How many behind the last one are looked at before all are searched.
    private static let reach = 8

    /// In ascending order.
    private var series: [Int64] = []
    private var groups: [Int] = []
    /// Behind the last one that was found.
    private var next = 0

    /// `nil` for a series that was not met.
    mutating func find(_ wanted: Int64) -> Int? {
        var place = next
        let end = min(next + Self.reach, series.count)
        while place < end, series[place] != wanted { place += 1 }
        if place == end { place = firstPlace(notBefore: wanted) }
        guard place < series.count, series[place] == wanted else { return nil }
        next = place + 1
        return groups[place]
    }

    /// - Parameter new: one that was not found.
    mutating func insert(_ group: Int, of new: Int64) {
        let place = firstPlace(notBefore: new)
        series.insert(new, at: place)
        groups.insert(group, at: place)
        next = place + 1
    }

    private func firstPlace(notBefore wanted: Int64) -> Int {
        var (low, high) = (0, series.count)
        while low < high {
            let middle = (low + high) / 2
            if series[middle] < wanted { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
