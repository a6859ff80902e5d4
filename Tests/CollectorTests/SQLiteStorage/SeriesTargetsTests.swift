import Fixtures
import MartletStorage
import Testing

@testable import MartletSQLiteStorage

@Suite struct SeriesTargetsTests {
    @Test func seriesAreFoundInAnyOrder() {
        var random = SeededGenerator(seed: 1)
        var targets = SeriesTargets()
        var known: [Int64: [SeriesTarget?]] = [:]
        for _ in 0..<200 {
            // The series of one chunk ascend. Some are new, and some occur twice.
            for series in (0..<20).map({ _ in Int64.random(in: 1...300, using: &random) }).sorted() {
                #expect(find(series, &targets) == known[series])
                guard known[series] == nil else { continue }
                let added = (0..<Self.sums).map { _ in
                    let group = Int.random(in: -1...5, using: &random)
                    return group < 0 ? nil : SeriesTarget(group: group, requests: RequestClass(Samples.dimensions()))
                }
                known[series] = added
                _ = targets.insert(added, of: series)
            }
        }
        for series in Int64(0)...301 { #expect(find(series, &targets) == known[series]) }
    }

    private static let sums = 3

    private func find(_ series: Int64, _ targets: inout SeriesTargets) -> [SeriesTarget?]? {
        targets.find(series).map { found in (0..<Self.sums).map { targets[found, $0] } }
    }
}
