import MartletStorage
import MartletTelemetry

/// The series of one service as a reader remembers them. What every query asks of a series is worked out once.
struct KnownSeries: Sendable {
    /// The number of the series that was made last; `nil` if there is none.
    let latest: Int64?
    /// The dimensions without status, error and rule, by which most queries tell groups apart. Most series have the same as the one
    /// before.
    private(set) var names: [RequestDimensions] = []
    /// The dimensions of each series; `nil` for one that this version cannot read.
    private(set) var dimensions: [RequestDimensions?] = []
    private var classes: [RequestClass?] = []
    private var nameIndexes: [Int] = []
    /// The numbers of the series in ascending order, each with its place in the arrays above.
    private var places: [(id: Int64, place: Int)] = []

    init(latest: Int64?) {
        self.latest = latest
    }

    var count: Int { dimensions.count }

    mutating func append(_ id: Int64, _ dimensions: RequestDimensions?) {
        places.append((id, count))
        self.dimensions.append(dimensions)
        classes.append(dimensions.map(RequestClass.init))
        nameIndexes.append(dimensions.map { nameIndex(of: $0) } ?? 0)
    }

    /// Ends the series, which are asked for afterwards.
    mutating func sort() { places.sort { $0.id < $1.id } }

    /// Returns the place of a series; `nil` if it is not one of the service's.
    func place(of id: Int64) -> Int? {
        var (low, high) = (0, places.count)
        while low < high {
            let middle = (low + high) / 2
            if places[middle].id < id { low = middle + 1 } else { high = middle }
        }
        return low < places.count && places[low].id == id ? places[low].place : nil
    }

    /// Returns the class of the series at a place, and the index of its name; `nil` for a series that this version cannot read.
    func entry(at place: Int) -> (requests: RequestClass, name: Int)? {
        classes[place].map { ($0, nameIndexes[place]) }
    }

    private mutating func nameIndex(of dimensions: RequestDimensions) -> Int {
        var name = dimensions
        (name.status, name.error, name.rule) = (nil, nil, nil)
        if names.isEmpty || names[names.count - 1] != name { names.append(name) }
        return names.count - 1
    }
}
