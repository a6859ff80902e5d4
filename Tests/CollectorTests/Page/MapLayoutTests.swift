import MartletReports
import Testing

@testable import MartletPage

@Suite struct MapLayoutTests {
    private static func edge(_ from: String, _ to: String) -> (from: MapPlace, to: MapPlace) {
        (.service(from), .service(to))
    }

    private static func box(_ name: String, in layout: MapLayout) throws -> MapLayout.Box {
        try #require(layout.boxes.first { $0.place.name == name })
    }

    @Test func callersAreToTheLeftOfTheirCallees() throws {
        let layout = MapLayout([Self.edge("a", "b"), Self.edge("b", "c"), Self.edge("a", "c")])
        let boxes = try ["a", "b", "c"].map { try Self.box($0, in: layout) }
        #expect(boxes[0].x < boxes[1].x && boxes[1].x < boxes[2].x)
        #expect(layout.wires.map(\.course) == [.forward, .forward, .forward])
    }

    @Test func circleHasOneEdgeThatGoesBack() throws {
        let layout = MapLayout([Self.edge("a", "b"), Self.edge("b", "c"), Self.edge("c", "a")])
        #expect(layout.boxes.count == 3)
        let back = try #require(layout.wires.first { $0.course == .back })
        #expect(layout.wires.count { $0.course == .back } == 1)
        #expect(layout.boxes.allSatisfy { back.crest < $0.y } && back.crest > 0)
    }

    @Test func serviceThatCallsItselfHasALoop() {
        let layout = MapLayout([Self.edge("a", "a")])
        #expect(layout.boxes.count == 1)
        #expect(layout.wires.map(\.course) == [.loop])
    }

    @Test func boxesDoNotOverlap() {
        let edges = (0..<40).map { Self.edge("s\($0 % 7)", "s\(($0 * 5 + 1) % 23)") }
        let layout = MapLayout(edges)
        #expect(layout.wires.count == 40)
        for (index, one) in layout.boxes.enumerated() {
            for other in layout.boxes.dropFirst(index + 1) where one.x == other.x {
                #expect(one.y + one.height <= other.y || other.y + other.height <= one.y)
            }
            #expect(one.y >= 0 && one.y + one.height <= layout.height)
            #expect(one.x + MapLayout.boxWidth <= layout.width)
        }
    }

    @Test func equalEdgesHaveTheSameLayout() {
        let edges = (0..<40).map { Self.edge("s\($0 % 11)", "s\(($0 * 3 + 1) % 13)") }
        #expect(MapLayout(edges).boxes == MapLayout(edges).boxes)
        #expect(MapLayout(edges).wires == MapLayout(edges).wires)
    }

    @Test func noEdgesMakeAnEmptyMap() {
        let layout = MapLayout([])
        #expect(layout.boxes.isEmpty && layout.wires.isEmpty)
        #expect(layout.width.isFinite && layout.height.isFinite)
    }
}
