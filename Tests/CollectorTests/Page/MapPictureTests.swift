import MartletReports
import Testing

@testable import MartletPage

@Suite struct MapPictureTests {
    private static func edge(_ from: String, _ to: String) -> (from: MapPlace, to: MapPlace) {
        (.service(from), .service(to))
    }

    private static func box(_ name: String, in layout: MapLayout) throws -> MapLayout.Box {
        try #require(layout.boxes.first { $0.place.name == name })
    }

    private static func markup(_ layout: MapLayout) -> String {
        let picture = MapPicture(
            layout: layout,
            labels: layout.boxes.map {
                MapPicture.Label(name: $0.place.name, lines: ["2 instances"], isBad: false, isWatched: true)
            },
            edges: layout.wires.indices.map { MapPicture.EdgeLabel(text: "<\($0)>", count: 9, isBad: $0 == 0) })
        return String(decoding: picture.html.bytes, as: UTF8.self)
    }

    @Test(arguments: [2, 10, 40])
    func everyServiceAndEdgeIsThereAndEachTextHasItsOwnPlace(services: Int) throws {
        let edges = (0..<40).map { Self.edge("<s\($0 % services)>", "<s\(($0 * 7 + 1) % services)>") }
        let layout = MapLayout(edges)
        let markup = Self.markup(layout)
        let names = markup.matches(of: /<text class="nt"[^>]*>([^<]*)</).map { String($0.1) }
        #expect(names.sorted() == (0..<services).map { "&lt;s\($0)&gt;" }.sorted())
        #expect(!markup.contains("<s0"))
        #expect(markup.matches(of: /<path class="edge( badedge)?"/).count == 40)
        #expect(markup.matches(of: /<path class="edge badedge"/).count == 1)
        let texts = markup.matches(of: /<text class="en[^"]*" x="([^"]*)" y="([^"]*)">([^<]*)</)
        #expect(texts.map { String($0.3) } == (0..<40).map { "&lt;\($0)&gt;" })
        for (x, places) in Dictionary(grouping: texts, by: { Double($0.1) ?? -1 }) {
            #expect(x > 0 && x + 100 < layout.width)
            let heights = places.compactMap { Double($0.2) }.sorted()
            #expect(heights.allSatisfy { $0 > 13 && $0 < layout.height })
            #expect(zip(heights, heights.dropFirst()).allSatisfy { $1 - $0 > 20 })
        }
    }

    @Test func callersAreToTheLeftOfTheirCallees() throws {
        let layout = MapLayout([Self.edge("a", "b"), Self.edge("b", "c"), Self.edge("a", "c")])
        let boxes = try ["a", "b", "c"].map { try Self.box($0, in: layout) }
        #expect(boxes[0].x < boxes[1].x && boxes[1].x < boxes[2].x)
        #expect(layout.wires.allSatisfy { $0.crest == nil })
    }

    @Test func circleHasOneEdgeThatPassesOverTheBoxes() throws {
        let layout = MapLayout([Self.edge("a", "b"), Self.edge("b", "c"), Self.edge("c", "a")])
        #expect(layout.boxes.count == 3)
        let crests = layout.wires.compactMap(\.crest)
        let crest = try #require(crests.first)
        #expect(crests.count == 1)
        #expect(layout.boxes.allSatisfy { crest < $0.y } && crest > 0)
    }

    @Test func serviceThatCallsItselfHasALoop() {
        let layout = MapLayout([Self.edge("a", "a")])
        #expect(layout.boxes.count == 1)
        #expect(layout.wires.compactMap(\.crest).count == 1)
    }

    @Test func boxesDoNotOverlap() {
        let edges = (0..<40).map { Self.edge("s\($0 % 7)", "s\(($0 * 5 + 1) % 23)") }
        let layout = MapLayout(edges)
        #expect(layout == MapLayout(edges) && layout.wires.count == 40)
        for (index, one) in layout.boxes.enumerated() {
            for other in layout.boxes.dropFirst(index + 1) where one.x == other.x {
                #expect(one.y + one.height <= other.y || other.y + other.height <= one.y)
            }
            #expect(one.y >= 0 && one.y + one.height <= layout.height)
            #expect(one.x + MapLayout.boxWidth <= layout.width)
        }
    }

    @Test func noEdgesMakeAnEmptyMap() {
        let layout = MapLayout([])
        #expect(layout.boxes.isEmpty && layout.wires.isEmpty)
        #expect(layout.width.isFinite && layout.height.isFinite)
    }
}
