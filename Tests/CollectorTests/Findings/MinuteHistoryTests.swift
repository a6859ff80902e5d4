import Fixtures
import Testing

@testable import MartletFindings

/// Whether the running sums are those of the minutes, whatever came late, left or was taken out.
@Suite struct MinuteHistoryTests {
    @Test(arguments: 0..<6 as Range<UInt64>) func runningSumsAreTheSumsOfTheMinutes(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var history = MinuteHistory(end: 1000, span: 0..<0)
        for end in 1001...1400 {
            history.advance(to: end)
            fill(&history, end - 1, &random)
            if Int.random(in: 0..<3, using: &random) == 0 {
                fill(&history, end - Int.random(in: 1...120, using: &random), &random)
            }
            if Int.random(in: 0..<40, using: &random) == 0 {
                let start = end - Int.random(in: 1...30, using: &random)
                history.exclude(start..<start + Int.random(in: 1...10, using: &random))
            }
        }
        for (sum, lag) in (FindingConstants.lags + [0]).enumerated() {
            expectSums(history, sum, of: history.minutes.dropLast(lag).filter(history.isUsable))
        }
        #expect(history.allRequests == history.minutes.reduce(0) { $0 + history.requests(in: $1) })
    }

    private func fill(_ history: inout MinuteHistory, _ minute: Minute, _ random: inout SeededGenerator) {
        let buckets = (0..<Int.random(in: 0...4, using: &random)).map { _ in
            BucketCount(
                bucket: Int.random(in: 10...60, using: &random), count: UInt32.random(in: 1...9, using: &random))
        }
        history.replace(minute, requests: buckets.reduce(0) { $0 + $1.count }, buckets)
    }

    private func expectSums(_ history: MinuteHistory, _ sum: Int, of minutes: [Minute]) {
        let requests = minutes.map { history.requests(in: $0) }
        #expect(history.requests(of: sum) == requests.reduce(0, +))
        #expect(history.squares(of: sum) == requests.reduce(0) { $0 + $1 * $1 })
        for bucket in [0, 20, 35, 59, 99] {
            #expect(history.atLeast(bucket, of: sum) == minutes.reduce(0) { $0 + history.atLeast(bucket, in: $1) })
        }
    }

    @Test func longGapEmptiesTheHistory() {
        var history = MinuteHistory(end: 1000, span: 0..<1)
        history.replace(999, requests: 5, [BucketCount(bucket: 0, count: 5)])
        history.advance(to: 5000)
        #expect(history.requests(of: MinuteHistory.whole) == 0 && history.end == 5000)
    }
}
