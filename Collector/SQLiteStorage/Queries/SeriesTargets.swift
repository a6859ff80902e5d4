/// The targets of each series that was met, one for each of the sums that share a pass. Searches are fast if series are asked for
/// in ascending order repeatedly, as chunks have them.
struct SeriesTargets {
    /// Series that are compared after the last one found, before a search of all.
    private static let reach = 8

    /// The series in ascending order.
    private var series: [Int64] = []
    /// The index of each series' first target.
    private var first: [Int] = []
    /// The targets in the order in which the series were met; `nil` for a series that is left out.
    private var targets: [SeriesTarget?] = []
    /// The index after the series that was found last.
    private var next = 0

    /// A target of a series that was found: of the sum with this number.
    subscript(found: Int, sum: Int) -> SeriesTarget? { targets[found + sum] }

    /// Returns the place of a series' targets; `nil` for a series that was not met.
    mutating func find(_ wanted: Int64) -> Int? {
        var index = next
        let end = min(next + Self.reach, series.count)
        while index < end, series[index] != wanted { index += 1 }
        if index == end { index = firstIndex(notBefore: wanted) }
        guard index < series.count, series[index] == wanted else { return nil }
        next = index + 1
        return first[index]
    }

    /// - Parameter new: a series that ``find(_:)`` did not find.
    /// - Returns: the place of its targets.
    mutating func insert(_ added: [SeriesTarget?], of new: Int64) -> Int {
        let index = firstIndex(notBefore: new)
        series.insert(new, at: index)
        first.insert(targets.count, at: index)
        targets += added
        next = index + 1
        return first[index]
    }

    private func firstIndex(notBefore wanted: Int64) -> Int {
        var (low, high) = (0, series.count)
        while low < high {
            let middle = (low + high) / 2
            if series[middle] < wanted { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
