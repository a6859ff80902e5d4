import MartletTelemetry
import Testing

@Suite struct PhaseTests {
    @Test func requestHasOnlyThePhasesThatWereSet() {
        var durations = PhaseDurations()
        #expect(RequestPhase.allCases.allSatisfy { durations[$0] == nil })
        for (number, phase) in RequestPhase.allCases.enumerated() { durations[phase] = UInt64(number) }
        #expect(RequestPhase.allCases.map { durations[$0] } == [0, 1, 2, 3, 4, 5])
        durations[.dns] = nil
        #expect(RequestPhase.allCases.map { durations[$0] } == [0, nil, 2, 3, 4, 5])
    }

    @Test func meanCoversOnlyRequestsThatHadThePhase() {
        var (first, again) = (PhaseDurations(), PhaseDurations())
        first[.connect] = 3_000_000_000
        first[.transfer] = 1_000_000_000
        again[.transfer] = 2_000_000_000
        var statistics = RequestStatistics()
        statistics.record(seconds: 4, bytesSent: 0, bytesReceived: 0, phases: first)
        statistics.record(seconds: 2, bytesSent: 0, bytesReceived: 0, phases: again)
        statistics.record(seconds: 2, bytesSent: 0, bytesReceived: 0)
        #expect(statistics.phases[.connect].mean == 3)
        #expect(statistics.phases[.transfer] == PhaseTotals.Total(count: 2, seconds: 3))
        #expect(statistics.phases[.dns].mean == nil)
    }

    @Test func mergedTotalsAreTheTotalsOfAllRequests() {
        var (one, other, all) = (RequestStatistics(), RequestStatistics(), RequestStatistics())
        for number in 0..<12 {
            var durations = PhaseDurations()
            durations[RequestPhase.allCases[number % 6]] = UInt64(1 + number) * 1_000_000_000
            all.record(seconds: 1, bytesSent: 0, bytesReceived: 0, phases: durations)
            if number < 5 {
                one.record(seconds: 1, bytesSent: 0, bytesReceived: 0, phases: durations)
            } else {
                other.record(seconds: 1, bytesSent: 0, bytesReceived: 0, phases: durations)
            }
        }
        one.merge(other)
        #expect(one == all)
        #expect(all.phases[.queue] == PhaseTotals.Total(count: 2, seconds: 8))
    }

    @Test func totalsAreEmptyUntilARequestHadAPhase() {
        var totals = PhaseTotals()
        totals.record(PhaseDurations())
        #expect(totals.isEmpty)
        var durations = PhaseDurations()
        durations[.queue] = 0
        totals.record(durations)
        #expect(!totals.isEmpty)
    }
}
