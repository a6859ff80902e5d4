import MartletReports

/// The places of a map in columns from left to right, callers before callees. The same edges always have the same layout.
struct MapLayout: Sendable, Equatable {
    struct Box: Sendable, Equatable {
        var place: MapPlace
        var x: Double
        var y: Double
        var height: Double
    }

    /// A line from the right side of a box to the middle of the left side of another.
    struct Wire: Sendable, Equatable {
        var x1: Double
        var y1: Double
        var x2: Double
        var y2: Double
        /// The height at which the line passes over both boxes if it does not lead to the right; `nil` if it does.
        var crest: Double?
    }

    /// The width of a box and of the space between two columns, in pixels.
    static let (boxWidth, gap) = (201.0, 160.0)
    private static let (least, pitch, space, margin, side) = (76.0, 26.0, 44.0, 40.5, 20.5)

    let boxes: [Box]
    /// The lines of the edges, in their order.
    let wires: [Wire]
    let width: Double
    let height: Double

    init(_ edges: [(from: MapPlace, to: MapPlace)]) {
        let columns = Self.columns(edges)
        // A box has room for the texts of all edges that start at it.
        let heights = Dictionary(
            uniqueKeysWithValues: columns.joined().map { place in
                (place, max(Self.least, Self.pitch * Double(edges.count { $0.from == place } + 1)))
            })
        func height(_ column: [MapPlace]) -> Double {
            column.reduce(-Self.space) { $0 + (heights[$1] ?? 0) + Self.space }
        }
        let tallest = columns.map(height).max() ?? 0
        var boxes: [MapPlace: Box] = [:]
        for (index, column) in columns.enumerated() {
            var y = Self.margin + (tallest - height(column)) / 2
            for place in Self.sorted(column, edges, boxes) {
                boxes[place] = Box(
                    place: place, x: Self.side + Double(index) * (Self.boxWidth + Self.gap), y: y,
                    height: heights[place] ?? 0)
                y += (heights[place] ?? 0) + Self.space
            }
        }
        self.boxes = columns.joined().compactMap { boxes[$0] }
        wires = Self.wires(edges, boxes)
        // A line that does not lead to the right starts with its text in the space after its column.
        let end = wires.allSatisfy { $0.crest == nil } ? Self.side - Self.gap : 0
        width = max(Self.side + Double(columns.count) * (Self.boxWidth + Self.gap) + end, 0)
        self.height = tallest + 2 * Self.margin
    }

    /// Returns the places in columns by depth. Each is to the right of all its callers, except where calls form a cycle.
    private static func columns(_ edges: [(from: MapPlace, to: MapPlace)]) -> [[MapPlace]] {
        let places = Set(edges.flatMap { [$0.from, $0.to] }).sorted()
        let callees = Dictionary(grouping: edges) { $0.from }.mapValues { $0.map(\.to).sorted() }
        let called = Set(edges.filter { $0.from != $0.to }.map(\.to))
        var (order, seen) = ([MapPlace](), Set<MapPlace>())
        // Depth first: a place precedes all places that it calls, except those from which calls lead back to it. The map draws
        // few edges.
        func visit(_ place: MapPlace) {
            guard seen.insert(place).inserted else { return }
            for callee in callees[place] ?? [] { visit(callee) }
            order.insert(place, at: 0)
        }
        for place in places.filter({ !called.contains($0) }) + places { visit(place) }
        var depths: [MapPlace: Int] = [:]
        for (index, place) in order.enumerated() {
            for callee in callees[place] ?? [] where order[(index + 1)...].contains(callee) {
                depths[callee] = max(depths[callee] ?? 0, (depths[place] ?? 0) + 1)
            }
        }
        return Dictionary(grouping: places) { depths[$0] ?? 0 }.sorted { $0.key < $1.key }.map(\.value)
    }

    /// Returns the places of a column, sorted by the mean height of their callers in the columns before it.
    private static func sorted(
        _ column: [MapPlace], _ edges: [(from: MapPlace, to: MapPlace)], _ boxes: [MapPlace: Box]
    ) -> [MapPlace] {
        let means = column.map { place in
            let callers = edges.filter { $0.to == place }.compactMap { boxes[$0.from] }
            let sum = callers.reduce(0) { $0 + $1.y + $1.height / 2 }
            return (mean: sum / Double(max(1, callers.count)), place: place)
        }
        return means.sorted { $0 < $1 }.map(\.place)
    }

    /// Returns the lines of the edges. Lines that start at the same box start in the order of the boxes that they lead to.
    private static func wires(_ edges: [(from: MapPlace, to: MapPlace)], _ boxes: [MapPlace: Box]) -> [Wire] {
        edges.enumerated().compactMap { index, edge in
            guard let from = boxes[edge.from], let to = boxes[edge.to] else { return nil }
            let siblings = edges.indices.filter { edges[$0].from == edge.from }
            let above = siblings.count { (boxes[edges[$0].to]?.y ?? 0, $0) < (to.y, index) }
            return Wire(
                x1: from.x + boxWidth, y1: from.y + from.height * Double(above + 1) / Double(siblings.count + 1),
                x2: to.x, y2: to.y + to.height / 2, crest: from.x < to.x ? nil : min(from.y, to.y) - space / 2)
        }
    }
}
