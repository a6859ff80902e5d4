import MartletReports

/// The places of a map in columns: each stands to the right of all that call it, except where calls go round in a circle.
struct MapLayers {
    /// Passes that bring callers and callees to like heights.
    private static let passes = 4

    private(set) var columns: [[MapPlace]] = []
    private let edges: [(from: MapPlace, to: MapPlace)]
    private var layers: [MapPlace: Int] = [:]

    init(_ edges: [(from: MapPlace, to: MapPlace)]) {
        self.edges = edges.filter { $0.from != $0.to }
        let places = Set(edges.flatMap { [$0.from, $0.to] }).sorted()
        let forward = Self.withoutCircles(self.edges, places)
        layers = Dictionary(uniqueKeysWithValues: places.map { ($0, 0) })
        // The longest way through the places is no longer than their number.
        for _ in places {
            for edge in forward { layers[edge.to] = max(layers[edge.to] ?? 0, (layers[edge.from] ?? 0) + 1) }
        }
        columns = Array(repeating: [], count: (layers.values.max() ?? -1) + 1)
        for place in places { columns[layers[place] ?? 0].append(place) }
        for _ in 0..<Self.passes { arrange() }
    }

    /// Returns the edges without those that lead back to a place from which they can be reached.
    private static func withoutCircles(
        _ edges: [(from: MapPlace, to: MapPlace)], _ places: [MapPlace]
    ) -> [(from: MapPlace, to: MapPlace)] {
        let callees = Dictionary(grouping: edges) { $0.from }.mapValues { $0.map(\.to).sorted() }
        let called = Set(edges.map(\.to))
        var (forward, path, done) = ([(from: MapPlace, to: MapPlace)](), Set<MapPlace>(), Set<MapPlace>())
        // Depth first, so that an edge to a place of the current path is one that goes back. The map draws few edges.
        func visit(_ place: MapPlace) {
            path.insert(place)
            for callee in callees[place] ?? [] where !path.contains(callee) {
                forward.append((place, callee))
                if !done.contains(callee) { visit(callee) }
            }
            path.remove(place)
            done.insert(place)
        }
        for place in places.filter({ !called.contains($0) }) + places where !done.contains(place) { visit(place) }
        return forward
    }

    /// Moves each place to the mean height of its neighbours in all columns.
    private mutating func arrange() {
        for column in columns.indices {
            let heights = Dictionary(
                uniqueKeysWithValues: columns.flatMap { column in
                    column.enumerated().map { ($0.element, (Double($0.offset) + 0.5) / Double(column.count)) }
                })
            let means = columns[column].map { place in
                let others = edges.compactMap { edge in
                    edge.from == place ? heights[edge.to] : edge.to == place ? heights[edge.from] : nil
                }
                return others.isEmpty ? heights[place] ?? 0 : others.reduce(0, +) / Double(others.count)
            }
            let sorted = columns[column].indices.sorted { means[$0] != means[$1] ? means[$0] < means[$1] : $0 < $1 }
            columns[column] = sorted.map { columns[column][$0] }
        }
    }
}
