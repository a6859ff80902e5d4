import Fixtures
import Testing

@testable import MartletReports

/// The references were computed by a separate program with NumPy 2.4 and SciPy 1.17, which the recipe was developed with.
@Suite struct RowVerdictTests {
    struct Reference: Sendable {
        var minutes: Int
        var length: Int
        var failing = 0
        var slower = 0
        var since = 0
        var hasPast = true
        var answer: RowVerdict.Answer
        var worse: Double
        var better: Double
        /// Of failures upwards and downwards, of p50 upwards; and the number of windows that they come from.
        var noise = (0.0, 0.0, 0.0, 0.0)
    }

    /// Rows of two days, of ten hours, and without a past.
    static let references = [
        Reference(
            minutes: 3000, length: 10, answer: .noChangeFound, worse: 2, better: 2,
            noise: (0.08201908943992064, 0.11185672463266665, 0.008613555862190215, 285.5)),
        Reference(
            minutes: 3000, length: 10, failing: 60, answer: .worse, worse: 5.927689514132818e-06, better: 2,
            noise: (0.08201908943992064, 0.11185672463266665, 0.008613555862190215, 285.5)),
        Reference(
            minutes: 3000, length: 60, slower: 200, answer: .worse, worse: 7.041545786433013e-11, better: 2,
            noise: (0.01462391649637766, 0.01519692547796701, 0.0038321683647898714, 44.5)),
        Reference(
            minutes: 3000, length: 60, failing: 100, since: 48, answer: .worse, worse: 8.504838469179284e-05, better: 2,
            noise: (0.01462391649637766, 0.01519692547796701, 0.0038321683647898714, 44.5)),
        Reference(
            minutes: 600, length: 30, failing: 80, answer: .worse, worse: 1.106394316159316e-05, better: 2,
            noise: (0.16735285535459563, 0.14203507651180117, 0.009593308269492557, 92)),
        Reference(
            minutes: 600, length: 60, slower: -200, answer: .better, worse: 2, better: 2.771124265983878e-07,
            noise: (0.09093307259278778, 0.07717637022567303, 0.00521263288532712, 92)),
        Reference(
            minutes: 3000, length: 10, failing: 300, hasPast: false, answer: .noChangeFound,
            worse: 0.00037066192138612256, better: 2, noise: (0, 0, 0, 0)),
        Reference(
            minutes: 3000, length: 60, failing: 400, hasPast: false, answer: .worse, worse: 4.6203075241281415e-11,
            better: 2, noise: (0, 0, 0, 0)),
    ]

    @Test(arguments: references) func resultsAreThoseOfTheReference(_ reference: Reference) {
        let start = reference.minutes - reference.length
        let row = PatternedRow(
            minutes: reference.minutes,
            .init(
                failing: reference.failing, slower: reference.slower,
                minutes: start + reference.since..<reference.minutes))
        let growth = reference.slower > 0 ? 1.4 : reference.slower < 0 ? 0.7 : 1
        let windows = row.windows(reference.length, growth: growth, hasPast: reference.hasPast)
        let verdict = RowVerdict(windows)
        #expect(verdict.answer == reference.answer)
        #expect(isNear(verdict.pValue(.worse), reference.worse))
        #expect(isNear(verdict.pValue(.better), reference.better))
        let (failures, p50) = (
            windows.noise(.failures, slots: reference.length), windows.noise(.p50, slots: reference.length)
        )
        #expect(isNear(failures.worse, reference.noise.0))
        #expect(isNear(failures.better, reference.noise.1))
        #expect(isNear(p50.worse, reference.noise.2))
        #expect(failures.windows == reference.noise.3)
    }

    private func isNear(_ value: Double, _ reference: Double) -> Bool { abs(value - reference) <= 1e-9 * reference }

    @Test func theChangedSignalsAreNamed() {
        let failing = PatternedRow(minutes: 3000, .init(failing: 100, minutes: 2940..<3000)).windows(60)
        #expect(RowVerdict(failing).changed(.worse) == [.failures])
        let slower = PatternedRow(minutes: 3000, .init(slower: 300, minutes: 2940..<3000)).windows(60, growth: 1.5)
        #expect(RowVerdict(slower).changed(.worse) == [.p50])
        #expect(RowVerdict(slower).changed(.better) == [])
    }

    /// The window before had the outage, and so the window is better; the one before that had none.
    @Test func aRowIsBetterAfterAnOutage() {
        let row = PatternedRow(minutes: 3000, .init(failing: 300, minutes: 2960..<2980))
        #expect(RowVerdict(row.windows(20)).answer == .better)
    }

    /// Nearly no request before takes longer than a bound, and nearly all now do.
    @Test(arguments: [7, 10, 15, 30, 60], [false, true])
    func durationsThatHardlyOverlapAreFoundInEveryWindow(length: Int, hasPast: Bool) {
        let row = PatternedRow(minutes: 3000, .init(failing: 980, minutes: 3000 - length..<3000))
        let windows = row.windows(length, hasPast: hasPast)
        #expect(RowVerdict(windows).answer == .worse)
    }

    @Test func aVerdictNeedsRequestsInBothWindowsAndInSeveralMinutes() {
        func verdict(_ requests: [Double]) -> RowVerdict.Answer {
            let none = requests.map { _ in 0.0 }
            let history = RowHistory(
                slotMinutes: 1, first: 0, requests: requests, signals: Array(repeating: none, count: 4))
            return RowVerdict(ComparedWindows(history, length: 10, noise: nil, quantiles: [:])).answer
        }
        let steady = [Double](repeating: 10, count: 10)
        #expect(verdict(steady + steady) == .noChangeFound)
        #expect(verdict(Array(repeating: 2, count: 10) + steady) == .tooLittleData(.requestsBefore(20)))
        #expect(verdict(steady + Array(repeating: 2, count: 10)) == .tooLittleData(.requestsAfter(20)))
        #expect(verdict(steady) == .tooLittleData(.requestsBefore(0)))
        #expect(verdict(steady + [100, 0, 0, 0, 0, 100, 0, 0, 0, 0]) == .tooLittleData(.minutes))
    }

    /// Of the row's 20 minutes, the last 12 are slow: five before the window of 15 are not enough to know how minutes vary.
    @Test func aNewRowThatIsSlowForMostOfTheWindowIsWorse() {
        let requests = [Double](repeating: 80, count: 20)
        let slow = (0..<20).map { $0 < 8 ? 3.0 : 79 }
        let none = [Double](repeating: 0, count: 20)
        let history = RowHistory(
            slotMinutes: 1, first: 0, requests: requests, signals: [none, slow, slow, slow])
        #expect(RowVerdict(ComparedWindows(history, length: 15, noise: nil, quantiles: [:])).answer == .worse)
        let steady = RowHistory(
            slotMinutes: 1, first: 0, requests: requests, signals: Array(repeating: none, count: 4))
        #expect(RowVerdict(ComparedWindows(steady, length: 15, noise: nil, quantiles: [:])).answer != .worse)
    }

    /// A row's life begins with its first request.
    @Test func timeBeforeTheFirstRequestIsNoPast() {
        let row = PatternedRow(minutes: 400)
        let empty = [Double](repeating: 0, count: 2000)
        let padded = RowHistory(
            slotMinutes: 1, first: 0, requests: empty + row.requests, signals: row.signals.map { empty + $0 })
        #expect(padded.count == 400)
        #expect(padded.first == 2000)
        let young = RowNoise(row.history, before: 380, windowMinutes: 20)
        let late = RowNoise(padded, before: 2380, windowMinutes: 20)
        // The past ends at the last full hour before the window, after 360 and after 340 minutes of life.
        #expect(young[.failures, 5].windows == (360 - 80) / 5)
        #expect(late[.failures, 5].windows == (340 - 80) / 5)
    }

    @Test func aWindowOfADayIsComparedInLongerSlots() {
        let row = PatternedRow(minutes: 2880, .init(failing: 300, minutes: 1440..<2880))
        func slots(_ minutes: [Double]) -> [Double] {
            stride(from: 0, to: minutes.count, by: 12).map { minutes[$0..<$0 + 12].reduce(0, +) }
        }
        let history = RowHistory(
            slotMinutes: 12, first: 0, requests: slots(row.requests), signals: row.signals.map(slots))
        let noise = RowNoise(history, before: 1440, windowMinutes: 1440, slotMinutes: 12)
        let windows = ComparedWindows(history, length: 120, noise: noise, quantiles: [:])
        #expect(RowVerdict(windows).changed(.worse) == [.failures])
        #expect(windows.onset(.failures, .worse)?.isFromStart == true)
    }
}

@Suite struct FirstMinutesTests {
    @Test func allRequestsFailAfterTwoGoodMinutes() {
        let minutes = [(0, 250), (1, 262), (264, 264)].map { SignalCounts($0, of: $1) }
        let change = FirstMinutes(minutes)
        #expect(change.pValue <= VerdictConstants.rowLevel)
        #expect(change.since == 2)
        #expect(FirstMinutes(Array(minutes.prefix(2))).pValue > VerdictConstants.rowLevel)
    }

    @Test func aChangeWithinAMinuteIsFoundFromTheNextOneOn() {
        let minutes = [(0, 78), (0, 120), (78, 120), (120, 120), (42, 42)].map { SignalCounts($0, of: $1) }
        #expect(FirstMinutes(minutes).pValue <= VerdictConstants.rowLevel)
        #expect(FirstMinutes(minutes).since == 2)
    }

    @Test func aLongOutageDoesNotMoveItsBeginning() {
        let minutes = (0..<60).map { SignalCounts($0 < 5 ? 0 : 100, of: 100) }
        #expect(FirstMinutes(minutes).since == 5)
    }

    @Test func someFailAfterHalfAnHour() {
        let minutes = (0..<60).map { SignalCounts($0 < 30 ? 1 : 40, of: 100) }
        #expect(FirstMinutes(minutes).pValue <= VerdictConstants.rowLevel)
        #expect(FirstMinutes(minutes).since == 30)
    }

    /// Nobody knows yet whether the row often has such minutes.
    @Test func aBurstOfSomeFailuresIsNoChange() {
        let minutes = (0..<12).map { SignalCounts($0 == 8 || $0 == 9 ? 40 : 0, of: 100) }
        for lived in 9...12 { #expect(FirstMinutes(Array(minutes.prefix(lived))).pValue > VerdictConstants.rowLevel) }
    }

    @Test func unchangedMinutesAreNotWorse() {
        for seed: UInt64 in 0..<20 {
            let row = PatternedRow(minutes: 60, seed: seed)
            let minutes = zip(row.signals[0], row.requests).map { SignalCounts($0, of: $1) }
            for lived in [0, 1, 2, 3, 10, 60] {
                #expect(FirstMinutes(Array(minutes.prefix(lived))).pValue > VerdictConstants.rowLevel)
            }
        }
    }
}
