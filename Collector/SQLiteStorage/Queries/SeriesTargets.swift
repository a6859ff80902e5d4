/// The ``SeriesTarget`` of each series that was met. Searches are fast if series are asked for in ascending order
/// repeatedly, as chunks have them.
struct SeriesTargets {
    /// Series that are compared after the last one found, before a search of all.
    private static let reach = 8

    /// The series in ascending order.
    private var series: [Int64] = []
    /// The value of each series; `nil` for a series that is left out.
    private var targets: [SeriesTarget?] = []
    /// The index after the series that was found last.
    private var next = 0

    /// Returns `nil` for a series that was not met, and `.some(nil)` for one that is left out.
    mutating func find(_ wanted: Int64) -> SeriesTarget?? {
        var index = next
        let end = min(next + Self.reach, series.count)
        while index < end, series[index] != wanted { index += 1 }
        if index == end { index = firstIndex(notBefore: wanted) }
        guard index < series.count, series[index] == wanted else { return nil }
        next = index + 1
        return .some(targets[index])
    }

    /// - Parameter new: a series that ``find(_:)`` did not find.
    mutating func insert(_ target: SeriesTarget?, of new: Int64) {
        let index = firstIndex(notBefore: new)
        series.insert(new, at: index)
        targets.insert(target, at: index)
        next = index + 1
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
