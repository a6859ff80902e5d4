import Fixtures
import Foundation
import MartletStorage
import MartletTelemetry
import Testing

@testable import MartletReports

@Suite struct ComparisonTests {
    // MARK: - Changes

    @Test func moreFailuresAreWorseAndTheVerdictNamesBothShares() throws {
        let changes = try #require(verdict(blocks(failed: 10), blocks(failed: 60)).ifWorse)
        #expect(changes.failures == Verdict.Change(before: 0.01, after: 0.06))
        #expect(changes.p50 == nil && changes.p95 == nil && changes.p99 == nil)
        #expect(abs(changes.cliffsDelta) < 0.01)
    }

    @Test func longerDurationsAreWorseAndTheIntervalsHoldTheQuantiles() throws {
        let changes = try #require(verdict(blocks(seconds: 0.1), blocks(seconds: 0.13)).ifWorse)
        let (p50, p95) = (try #require(changes.p50), try #require(changes.p95))
        #expect(changes.failures == nil)
        #expect(abs(p50.after.value / p50.before.value - 1.3) < 0.01)
        #expect(abs(p95.after.value / p95.before.value - 1.3) < 0.01)
        for quantile in [p50.before, p50.after, p95.before, p95.after] {
            #expect(quantile.interval.contains(quantile.value))
            #expect(quantile.interval.upperBound < 1.1 * quantile.interval.lowerBound)
        }
        #expect((0.1..<0.5).contains(changes.cliffsDelta))
    }

    @Test func oneSlowRequestInThirtyIsSeenInTheTailAlone() throws {
        let after = blocks { index in
            durations(middle: 0.1, count: 970, index) + [(0.6, 30)]
        }
        let changes = try #require(verdict(blocks(seconds: 0.1), after).ifWorse)
        #expect(changes.p50 == nil && changes.failures == nil)
        #expect(changes.p99 != nil)
    }

    /// The p95 of both windows together is a time-out, and no request takes longer.
    @Test func moreTimeOutsAreSeenThoughNoRequestIsSlower() throws {
        func window(timeOuts: UInt64) -> [RequestGroup] {
            blocks { index in
                durations(middle: 0.1, count: 1000 - timeOuts, index) + [(2, timeOuts + UInt64(index % 2))]
            }
        }
        let changes = try #require(verdict(window(timeOuts: 10), window(timeOuts: 100)).ifWorse)
        #expect(changes.p95.map { abs($0.after.value - 2000) < 10 } == true)
    }

    @Test func aRowThatFailsMoreAndAnswersFasterIsWorse() throws {
        let changes = try #require(verdict(blocks(failed: 10, seconds: 0.2), blocks(failed: 100, seconds: 0.1)).ifWorse)
        #expect(changes.failures != nil)
        #expect(changes.p50.map { $0.after.value < $0.before.value } == true)
    }

    @Test func anOutageIsWorseWhateverTheShareBefore() throws {
        for share: UInt64 in [0, 1, 100, 700, 900] {
            let changes = try #require(verdict(blocks(failed: share), blocks(failed: 1000)).ifWorse)
            #expect(changes.failures?.after == 1)
        }
    }

    @Test func outageInTheLastMinutesMakesTheWindowWorse() throws {
        let usual = blocks(failed: 10)
        let outage = Array(usual.dropLast() + blocks(failed: 300).suffix(1))
        let changes = try #require(verdict(usual, outage).ifWorse)
        #expect(try #require(changes.failures).after > 0.03)
        #expect(verdict(usual, outage, isLater: false).ifUnchanged != nil)
    }

    /// The row has fewer failures than before, and its end is no better than the time before the outage.
    @Test func anOutageThatLeavesTheWindowBetterThanTheOneBeforeIsNotBetterByItself() {
        let before = blocks(failed: 100)
        let after = Array(blocks(failed: 60).dropLast(2) + blocks(failed: 150).suffix(2))
        #expect(verdict(before, after).ifUnchanged != nil)
    }

    // MARK: - No changes

    @Test(arguments: [1.0, 1.02, 1.08])
    func aShiftBelowTheGateIsNoChangeHoweverManyRequestsShowIt(factor: Double) throws {
        let (before, after) = (blocks(seconds: 0.1, scale: 10_000), blocks(seconds: 0.1 * factor, scale: 10_000))
        let tests = RowComparison(ComparedRow(before: before, after: after))
        #expect((tests.durations.pValue < 0.01) == (factor > 1))
        let smallest = try #require(verdict(before, after).ifUnchanged)
        // Ten million requests see all that is worth a word, and nothing less.
        #expect(smallest.p95.map { (0.1..<0.12).contains($0) } == true)
        #expect(smallest.failures.map { (0.001..<0.0015).contains($0) } == true)
    }

    @Test func aShiftOfOneBucketIsNoChange() {
        let one = blocks { _ in [(0.1, 1000)] }
        let other = blocks { _ in [(0.1 * exp2(1 / 128), 1000)] }
        let tests = RowComparison(ComparedRow(before: one, after: other))
        #expect(tests.durations.superiority == 1)
        #expect(tests.pValues.durations.allSatisfy { $0 < 1e-4 })
        #expect(verdict(one, other).ifUnchanged != nil)
    }

    @Test func rowsWithoutFailuresTellWhichShareTheyWouldHaveSeen() throws {
        let smallest = try #require(verdict(blocks(failed: 0), blocks(failed: 0)).ifUnchanged)
        let failures = try #require(smallest.failures)
        #expect((0.001..<0.005).contains(failures))
        #expect(RowComparison(ComparedRow(before: blocks(failed: 0), after: blocks(failed: 0))).failures.pValue == nil)
    }

    @Test func rowsOfWhichAllFailedSeeNoIncrease() throws {
        let smallest = try #require(verdict(blocks(failed: 1000), blocks(failed: 1000)).ifUnchanged)
        #expect(smallest.failures == nil)
    }

    @Test func fewRequestsSeeNothingAndSaySo() throws {
        let smallest = try #require(
            verdict(blocks(failed: 0, scale: 0.006), blocks(failed: 0, scale: 0.006)).ifUnchanged)
        #expect(smallest.p95 == nil)
        #expect(smallest.failures.map { $0 > 0.1 } ?? true)
    }

    // MARK: - Too little data

    @Test func fewerThanThirtyRequestsAreTooFew() {
        let many = blocks(failed: 1)
        let few = (0..<10).map { group([(0.1, $0 < 9 ? 3 : 2)]) }
        #expect(verdict(few, many) == .tooLittleData(.requests(29, in: .before)))
        #expect(verdict(many, few) == .tooLittleData(.requests(29, in: .after)))
        #expect(verdict([], many) == .tooLittleData(.requests(0, in: .before)))
        #expect(verdict([], []) == .tooLittleData(.requests(0, in: .before)))
    }

    @Test func fewerThanSixBlocksWithRequestsAreTooFew() {
        let (busy, idle) = (group([(0.1, 1000)]), RequestGroup(values: []))
        let five = Array(repeating: busy, count: 5) + Array(repeating: idle, count: 5)
        #expect(verdict(five, blocks(failed: 1)) == .tooLittleData(.blocks(5, in: .before)))
        #expect(verdict(blocks(failed: 1), five) == .tooLittleData(.blocks(5, in: .after)))
        #expect(verdict(five + [busy], five + [busy]).ifUnchanged != nil)
    }

    // MARK: - Properties

    @Test func anEmptyBlockIsAsGoodAsNone() {
        let (before, after) = (blocks(failed: 10), blocks(failed: 40, seconds: 0.2))
        let idle = RequestGroup(values: [])
        #expect(verdict([idle] + before.dropFirst(), after + [idle]) == verdict(Array(before.dropFirst()), after))
    }

    @Test func windowsOfDifferentLengthsAreComparedByTheirShares() {
        let (hour, day) = (blocks(failed: 10), blocks(failed: 10, scale: 24))
        #expect(verdict(hour, day).ifUnchanged != nil)
        let (fewer, worse) = (Array(blocks(failed: 10).prefix(6)), blocks(failed: 50, scale: 24))
        for (one, other) in [(fewer, worse), (worse, fewer)] {
            let verdict = verdict(one, other)
            #expect(verdict.isWorse == (other.count == 10) && verdict.isBetter == (other.count == 6), "\(verdict)")
        }
    }

    @Test func swappingTheWindowsMirrorsTheVerdict() {
        var random = SeededGenerator(seed: 5)
        var (unchanged, worse) = (0, 0)
        for trial in 0..<40 {
            let before = SimulatedTraffic(autocorrelation: 0.5).blocks(using: &random)
            let after = SimulatedTraffic(
                failureShare: trial % 2 == 0 ? 0.01 : 0.04, autocorrelation: 0.5, slowdown: trial % 3 == 0 ? 1.3 : 1,
                slowShare: trial % 5 == 0 ? 0.04 : 0
            ).blocks(trial % 4 == 0 ? 6 : 10, using: &random)
            let (forth, back) = (
                verdict(before, after, isLater: false), verdict(after, before, isLater: false)
            )
            unchanged += forth.ifUnchanged == nil ? 0 : 1
            worse += forth.isWorse ? 1 : 0
            #expect(forth.changes.map(\.mirrored)?.isNearly(back.changes) ?? (back.changes == nil))
            if let changes = forth.changes, changes.increases.allSatisfy({ $0 }) {
                #expect(forth.isWorse && back.isBetter)
            }
        }
        #expect(unchanged >= 5 && worse >= 20 && unchanged + worse == 40)
    }

    /// One block of a thousand tells nothing about how much a thousand vary.
    @Test func oneBlockThatOutweighsAllOthersIsNoProof() {
        func window(failed: UInt64) -> [RequestGroup] {
            [group([(0.1, 10_000 - failed)], failed: failed)] + (0..<9).map { group([(0.1, 10)], failed: $0 % 2) }
        }
        #expect(verdict(window(failed: 100), window(failed: 200)).ifUnchanged != nil)
    }

    @Test func theMoreRowsThereAreTheMoreMustSpeakForAChange() {
        let same = ComparedRow(before: blocks(failed: 10), after: blocks(failed: 10))
        let changed = ComparedRow(before: blocks(failed: 10, scale: 0.1), after: blocks(failed: 40, scale: 0.1))
        #expect(Comparison(of: [changed])[0].isWorse)
        let many = Comparison(of: [changed] + Array(repeating: same, count: 100))
        #expect((0...100).allSatisfy { many[$0].ifUnchanged != nil })
    }

    @Test func histogramsOfDifferentScalesAreCompared() {
        let coarse = (0..<10).map { index in
            durations(middle: 0.1, count: 1000, index)
        }.map { group($0, scale: 2) }
        let far = group([(1e-300, 5), (1e300, 5), (0, 5)], scale: 20)
        #expect(verdict(blocks(seconds: 0.1), coarse).ifUnchanged != nil)
        #expect(verdict(blocks(seconds: 0.1), coarse + [far]).ifUnchanged != nil)
        #expect(verdict(blocks(seconds: 0.3), coarse).isBetter)
    }

    @Test func countsBeyondAllTrafficAreNoTrap() {
        let huge = (0..<10).map { group([(0.1, 1 << 59), (1e300, 1 << 58)], failed: $0 == 0 ? 1 << 58 : 0) }
        for other in [huge, blocks(failed: 0), blocks(failed: 1), blocks(failed: 1000), Array(huge.prefix(6))] {
            _ = verdict(huge, other)
            _ = verdict(other, huge)
        }
    }

    // MARK: -

    private func verdict(_ before: [RequestGroup], _ after: [RequestGroup], isLater: Bool = true) -> Verdict {
        Comparison(of: [ComparedRow(before: before, after: after, isLater: isLater)])[0]
    }

    /// Returns ten blocks of 1000 · `scale` requests. The blocks differ a little.
    private func blocks(failed: UInt64 = 0, seconds: Double = 0.1, scale: Double = 1) -> [RequestGroup] {
        (0..<10).map { index in
            func scaled(_ count: UInt64) -> UInt64 { UInt64(Double(count) * scale) }
            // The first and the last block differ by four tenths of the mean, and the mean is exact.
            let share = Double(failed) * (0.8 + 0.4 * Double(index) / 9)
            let count = failed < 1000 ? UInt64((min(share, 1000) * scale).rounded()) : scaled(1000)
            return group(durations(middle: seconds, count: scaled(1000) - count, index), failed: count)
        }
    }

    private func blocks(_ durations: (Int) -> [(Double, UInt64)]) -> [RequestGroup] {
        (0..<10).map { group(durations($0)) }
    }

    /// Returns durations from half to twice the middle, which is a little higher in every other block.
    private func durations(middle: Double, count: UInt64, _ block: Int) -> [(Double, UInt64)] {
        (0..<201).map { step in
            let factor = exp2(Double(step) / 100 - 1) * (block.isMultiple(of: 2) ? 1.01 : 0.99)
            // A step of 64 has no divisor in common with 201, so that few requests spread over the range as well.
            return (middle * factor, count / 201 + (UInt64(step * 64 % 201) < count % 201 ? 1 : 0))
        }
    }

    private func group(
        _ durations: [(Double, UInt64)], failed: UInt64 = 0, scale: Int32 = ExponentialHistogram.defaultScale
    ) -> RequestGroup {
        var group = RequestGroup(values: [])
        let succeeded = ExponentialHistogram(
            durations.map { (value: $0.0, count: $0.1) }, scale: scale,
            sum: durations.reduce(0) { $0 + $1.0 * Double($1.1) }, min: nil, max: nil)
        group.add(RequestClass(Samples.dimensions())) { $0.merge(RequestStatistics(duration: succeeded)) }
        let middle = durations.isEmpty ? 0.1 : durations[durations.count / 2].0
        let failures = ExponentialHistogram(
            [(middle, failed)], scale: scale, sum: middle * Double(failed), min: nil, max: nil)
        group.add(RequestClass(Samples.dimensions(status: 503))) { $0.merge(RequestStatistics(duration: failures)) }
        return group
    }
}

extension Verdict {
    var changes: Changes? {
        switch self {
        case .worse(let changes), .better(let changes): changes
        case .noChangeFound, .tooLittleData: nil
        }
    }

    fileprivate var isWorse: Bool { ifWorse != nil }
    fileprivate var isBetter: Bool { changes != nil && !isWorse }

    fileprivate var ifWorse: Changes? {
        guard case .worse(let changes) = self else { return nil }
        return changes
    }

    fileprivate var ifUnchanged: SmallestChange? {
        guard case .noChangeFound(let smallest) = self else { return nil }
        return smallest
    }
}

extension Verdict.Changes {
    fileprivate var mirrored: Self {
        Self(
            failures: failures?.mirrored, p50: p50?.mirrored, p95: p95?.mirrored, p99: p99?.mirrored,
            cliffsDelta: -cliffsDelta)
    }

    fileprivate func isNearly(_ other: Self?) -> Bool {
        guard var other else { return false }
        guard abs(cliffsDelta - other.cliffsDelta) < 1e-12 else { return false }
        other.cliffsDelta = cliffsDelta
        return self == other
    }

    fileprivate var increases: [Bool] {
        (failures.map { [$0.after > $0.before] } ?? [])
            + [p50, p95, p99].compactMap { $0.map { $0.after.value > $0.before.value } }
    }
}

extension Verdict.Change {
    fileprivate var mirrored: Self { Self(before: after, after: before) }
}
