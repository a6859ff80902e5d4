import MartletStorage

/// Where the requests of a series are counted.
struct SeriesPlace: Equatable {
    /// The index of the group.
    var group: Int
    var requests: RequestClass
}

/// The place of each series that was met, found fast where series are asked for in ascending order again and again, as chunks
/// have them.
struct SeriesPlaces {
    /// How many behind the last one are looked at before all are searched.
    private static let reach = 8

    /// In ascending order.
    private var series: [Int64] = []
    /// `nil` for those that are left out.
    private var places: [SeriesPlace?] = []
    /// Behind the last one that was found.
    private var next = 0

    /// `nil` for a series that was not met.
    mutating func find(_ wanted: Int64) -> SeriesPlace?? {
        var index = next
        let end = min(next + Self.reach, series.count)
        while index < end, series[index] != wanted { index += 1 }
        if index == end { index = firstIndex(notBefore: wanted) }
        guard index < series.count, series[index] == wanted else { return nil }
        next = index + 1
        return .some(places[index])
    }

    /// - Parameter new: one that was not found.
    mutating func insert(_ place: SeriesPlace?, of new: Int64) {
        let index = firstIndex(notBefore: new)
        series.insert(new, at: index)
        places.insert(place, at: index)
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
