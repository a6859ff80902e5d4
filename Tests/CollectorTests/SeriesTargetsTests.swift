import Fixtures
import MartletStorage
import Testing

@testable import MartletSQLiteStorage

@Suite struct SeriesPlacesTests {
    @Test func eachSeriesHasItsPlaceInWhateverOrderTheyCome() {
        var random = SeededGenerator(seed: 1)
        var places = SeriesPlaces()
        var known: [Int64: SeriesPlace?] = [:]
        for _ in 0..<200 {
            // Of one chunk: ascending, some of them new, some twice.
            for series in (0..<20).map({ _ in Int64.random(in: 1...300, using: &random) }).sorted() {
                #expect(places.find(series) == known[series])
                guard known[series] == nil else { continue }
                let group = Int.random(in: -1...5, using: &random)
                let place = group < 0 ? nil : SeriesPlace(group: group, requests: RequestClass(Samples.dimensions()))
                known[series] = .some(place)
                places.insert(place, of: series)
            }
        }
        for series in Int64(0)...301 { #expect(places.find(series) == known[series]) }
    }
}
