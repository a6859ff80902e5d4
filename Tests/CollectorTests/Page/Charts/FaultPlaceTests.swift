import Testing

@testable import MartletPage

@Suite struct FaultPlaceTests {
    private func wire(_ x2: Double, _ y2: Double) -> MapLayout.Wire {
        MapLayout.Wire(x1: 0, y1: 100, x2: x2, y2: y2, course: .forward, crest: 0)
    }

    @Test func longLineHasItsFaultsInTheMiddle() {
        let place = FaultPlace(wire(400, 100), width: 100, counts: (50, 60))
        #expect((place.x, place.y) == (200, 100))
    }

    @Test func countAtOneEndMovesTheFaultsTowardsTheOther() {
        let place = FaultPlace(wire(160, 100), width: 100, counts: (0, 54))
        #expect((place.x, place.y) == (56, 100))
        #expect(place.x + 50 <= 160 - 54)
    }

    @Test(arguments: [(100.0, 109.0), (80, 109), (120, 129)])
    func faultsWithoutRoomBetweenTheCountsAreBelowTheLine(end: Double, y: Double) {
        let place = FaultPlace(wire(160, end), width: 100, counts: (50, 60))
        #expect((place.x, place.y) == (80, y))
    }

    @Test func faultsOfASteepLineStayInTheMiddle() {
        let place = FaultPlace(wire(160, 200), width: 100, counts: (50, 60))
        #expect((place.x, place.y) == (80, 150))
    }

    @Test func faultsThatWouldOverlapMoveBelowTheBeginningOfTheirLine() {
        let line = wire(400, 100)
        let place = FaultPlace(line, width: 100, counts: (50, 60))
        let box = TextFrame(x: 180, y: 60, width: 212, height: 76)
        let start = place.free(of: [box], line, width: 100)
        #expect((start.x, start.y) == (56, 109))
        let lower = place.free(of: [box, start.frame(100)], line, width: 100)
        #expect((lower.x, lower.y) == (56, 133))
        #expect(place.free(of: [], line, width: 100) == place)
    }
}
