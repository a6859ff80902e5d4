import Foundation
import Testing

@testable import MartletReports

/// A row without a change says which change would have been found in more than 8 of 10 cases.
@Suite struct DetectableChangeTests {
    private static let seeds: Range<UInt64> = 0..<10

    @Test(arguments: [10, 60]) func aRiseOfFailuresThatWouldHaveBeenFoundIsFound(length: Int) throws {
        let found = try Self.seeds.count { seed in
            let change = DetectableChange(PatternedRow(minutes: 1500, seed: seed).windows(length), bounds: [:]) { _ in
                nil
            }
            let rise = try #require(change.failures)
            #expect(rise > 0.01 && rise < 0.25)
            let changed = 1500 - length..<1500
            let row = PatternedRow(
                minutes: 1500, .init(failing: Int((1000 * rise).rounded(.up)), minutes: changed), seed: seed)
            return RowVerdict(row.windows(length)).answer == .worse
        }
        #expect(found > Self.seeds.count * 8 / 10)
    }

    /// Durations are exponential, so the share of requests above a bound says how much all of them grew.
    @Test func theGrowthOfDurationsIsTheSmallestThatASignalFinds() throws {
        let row = PatternedRow(minutes: 1500).windows(60)
        func quantile(_ share: Double) -> Double { -log(1 - share) }
        func growth(_ signals: [RequestSignal]) throws -> Double {
            let bounds = signals.map { ($0, quantile(1 - row.before($0).share)) }
            let change = DetectableChange(row, bounds: Dictionary(uniqueKeysWithValues: bounds), quantile: quantile)
            return try #require(change.durations)
        }
        let (p50, p95) = (try growth([.p50]), try growth([.p95]))
        #expect(p50 > 0.1 && p95 > 0.1 && p50 != p95)
        #expect(try growth([.p50, .p95]) == min(p50, p95))
    }

    @Test func fewRequestsWouldNotHaveShownAnyChange() {
        let requests = [Double](repeating: 1, count: 60)
        let none = [Double](repeating: 0, count: 60)
        let history = RowHistory(
            slotMinutes: 1, first: 0, requests: requests, signals: Array(repeating: none, count: 4))
        let few = ComparedWindows(history, length: 2, noise: nil, quantiles: [:])
        #expect(DetectableChange(few, bounds: [.p50: 1]) { _ in 1 } == DetectableChange(few, bounds: [:]) { _ in nil })
        #expect(DetectableChange(few, bounds: [:]) { _ in nil }.failures == nil)
    }
}
