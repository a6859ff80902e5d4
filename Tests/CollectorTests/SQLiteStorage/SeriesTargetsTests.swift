import Fixtures
import MartletStorage
import Testing

@testable import MartletSQLiteStorage

@Suite struct SeriesTargetsTests {
    @Test func eachSeriesIsFoundInAnyOrder() {
        var random = SeededGenerator(seed: 1)
        var targets = SeriesTargets()
        var known: [Int64: SeriesTarget?] = [:]
        for _ in 0..<200 {
            // The series of one chunk ascend. Some are new, and some occur twice.
            for series in (0..<20).map({ _ in Int64.random(in: 1...300, using: &random) }).sorted() {
                #expect(targets.find(series) == known[series])
                guard known[series] == nil else { continue }
                let group = Int.random(in: -1...5, using: &random)
                let target = group < 0 ? nil : SeriesTarget(group: group, requests: RequestClass(Samples.dimensions()))
                known[series] = .some(target)
                targets.insert(target, of: series)
            }
        }
        for series in Int64(0)...301 { #expect(targets.find(series) == known[series]) }
    }
}
