import Fixtures
import Testing

@testable import MartletSQLiteStorage

@Suite struct SeriesGroupsTests {
    @Test func eachSeriesHasItsGroupInWhateverOrderTheyCome() {
        var random = SeededGenerator(seed: 1)
        var groups = SeriesGroups()
        var known: [Int64: Int] = [:]
        for _ in 0..<200 {
            // Of one chunk: ascending, some of them new, some twice.
            for series in (0..<20).map({ _ in Int64.random(in: 1...300, using: &random) }).sorted() {
                #expect(groups.find(series) == known[series])
                guard known[series] == nil else { continue }
                let group = Int.random(in: -1...5, using: &random)
                known[series] = group
                groups.insert(group, of: series)
            }
        }
        for series in Int64(0)...301 { #expect(groups.find(series) == known[series]) }
    }
}
