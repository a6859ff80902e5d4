import MartletReports

/// The places of a map in layers from left to right, callers before callees. The same edges always have the same layout.
struct MapLayout: Sendable {
    struct Box: Sendable, Equatable {
        var place: MapPlace
        var x: Double
        var y: Double
        var height: Double
    }

    /// An edge from the right side of a box to the left side of another.
    struct Wire: Sendable, Equatable {
        enum Course: Sendable { case forward, back, loop }

        var x1: Double
        var y1: Double
        var x2: Double
        var y2: Double
        var course: Course
        /// The height above both boxes at which an edge passes over them if it does not lead to the right.
        var crest: Double
    }

    static let boxWidth = 212.0
    private static let (least, pitch, space, margin, width) = (76.0, 26.0, 44.0, 40.0, 1300.0)

    let boxes: [Box]
    /// The lines of the edges, in their order.
    let wires: [Wire]
    let width: Double
    let height: Double

    init(_ edges: [(from: MapPlace, to: MapPlace)]) {
        let layers = MapLayers(edges)
        let columns = layers.columns
        let gap =
            columns.count > 1
            ? min(max((Self.width - Self.boxWidth * Double(columns.count)) / Double(columns.count - 1), 160), 240) : 0
        var boxes: [MapPlace: Box] = [:]
        let heights = columns.map { column in
            column.reduce(-Self.space) { $0 + Self.height(of: $1, edges) + Self.space }
        }
        let tallest = heights.max() ?? 0
        for (index, column) in columns.enumerated() {
            var y = Self.margin + (tallest - heights[index]) / 2
            for place in column {
                let height = Self.height(of: place, edges)
                boxes[place] = Box(place: place, x: Double(index) * (Self.boxWidth + gap), y: y, height: height)
                y += height + Self.space
            }
        }
        self.boxes = columns.flatMap { $0 }.compactMap { boxes[$0] }
        wires = Self.wires(edges, boxes)
        width = max(Double(columns.count) * (Self.boxWidth + gap) - gap, 0)
        height = tallest + 2 * Self.margin
    }

    /// A box has room for the numbers of all edges on its busier side.
    private static func height(of place: MapPlace, _ edges: [(from: MapPlace, to: MapPlace)]) -> Double {
        let ends = max(edges.count { $0.from == place }, edges.count { $0.to == place })
        return max(least, pitch * Double(ends + 1))
    }

    private static func wires(_ edges: [(from: MapPlace, to: MapPlace)], _ boxes: [MapPlace: Box]) -> [Wire] {
        let starts = ports(of: edges.map { ($0.from, $0.to) }, boxes)
        let ends = ports(of: edges.map { ($0.to, $0.from) }, boxes)
        return edges.indices.compactMap { index in
            guard let from = boxes[edges[index].from], let to = boxes[edges[index].to] else { return nil }
            let course: Wire.Course = from == to ? .loop : from.x < to.x ? .forward : .back
            return Wire(
                x1: from.x + boxWidth, y1: starts[index], x2: to.x, y2: ends[index], course: course,
                crest: min(from.y, to.y) - space / 2)
        }
    }

    /// Returns the height at which each edge meets its box. The edges of a box cross as little as possible.
    ///
    /// - Parameter edges: the box of each edge, and the box at its other end.
    private static func ports(of edges: [(own: MapPlace, other: MapPlace)], _ boxes: [MapPlace: Box]) -> [Double] {
        var heights = Array(repeating: 0.0, count: edges.count)
        for (place, indexes) in Dictionary(grouping: edges.indices, by: { edges[$0].own }) {
            guard let box = boxes[place] else { continue }
            let sorted = indexes.sorted { one, other in
                let (first, second) = (boxes[edges[one].other]?.y ?? 0, boxes[edges[other].other]?.y ?? 0)
                return first != second ? first < second : one < other
            }
            for (port, index) in sorted.enumerated() {
                heights[index] = box.y + box.height * Double(port + 1) / Double(sorted.count + 1)
            }
        }
        return heights
    }
}

/// The places of a map in columns. Each place is to the right of all its callers, except where calls form a circle.
struct MapLayers {
    /// The number of passes that align the heights of callers and callees.
    private static let passes = 4

    private(set) var columns: [[MapPlace]] = []
    private let edges: [(from: MapPlace, to: MapPlace)]
    private var layers: [MapPlace: Int] = [:]

    init(_ edges: [(from: MapPlace, to: MapPlace)]) {
        self.edges = edges.filter { $0.from != $0.to }
        let places = Set(edges.flatMap { [$0.from, $0.to] }).sorted()
        let forward = Self.withoutCircles(self.edges, places)
        layers = Dictionary(uniqueKeysWithValues: places.map { ($0, 0) })
        // The longest path has at most as many steps as there are places.
        for _ in places {
            for edge in forward { layers[edge.to] = max(layers[edge.to] ?? 0, (layers[edge.from] ?? 0) + 1) }
        }
        columns = Array(repeating: [], count: (layers.values.max() ?? -1) + 1)
        for place in places { columns[layers[place] ?? 0].append(place) }
        for _ in 0..<Self.passes { arrange() }
    }

    /// Returns the edges without those that lead back to a place on the path to them.
    private static func withoutCircles(
        _ edges: [(from: MapPlace, to: MapPlace)], _ places: [MapPlace]
    ) -> [(from: MapPlace, to: MapPlace)] {
        let callees = Dictionary(grouping: edges) { $0.from }.mapValues { $0.map(\.to).sorted() }
        let called = Set(edges.map(\.to))
        var (forward, path, done) = ([(from: MapPlace, to: MapPlace)](), Set<MapPlace>(), Set<MapPlace>())
        // The search is depth first, so that an edge to a place on the current path leads back. The map draws few edges.
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
