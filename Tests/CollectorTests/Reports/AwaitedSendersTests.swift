import MartletStorage
import MartletTelemetry
import Testing

@testable import MartletReports

/// Whom `check` waits for. Times are seconds of ``Samples/time(_:)``; the window ends at 1000.
@Suite struct AwaitedSendersTests {
    private static let end: UInt64 = 1000

    /// A sender that was last seen a second after the end of its latest interval.
    private func sender(
        _ instance: String, reported: UInt64, firstSeen: UInt64 = 0, lastSeen: UInt64? = nil, waiting: UInt64? = 0,
        _ statistics: [RequestKind: StatisticsSource] = [:]
    ) -> AgentRecord {
        AgentRecord(
            resource: Samples.resource(instance: instance), firstSeen: Samples.time(firstSeen),
            lastSeen: Samples.time(lastSeen ?? reported + 1), latestEnd: Samples.time(reported),
            ledger: waiting.map {
                LedgerReading(time: Samples.time(reported), captured: 10 + $0, delivered: 10, waiting: $0)
            }, gaps: nil, statistics: statistics)
    }

    private func report(_ senders: [AgentRecord], at now: UInt64) -> AgentsReport {
        let since = Samples.time(now) - AwaitedSenders.memory
        return AgentsReport(
            AgentsAnswer(agents: senders.filter { $0.lastSeen >= since }, more: 0), since: since)
    }

    private func awaited(_ senders: [AgentRecord], at now: UInt64 = end) -> AwaitedSenders {
        AwaitedSenders(report(senders, at: now)) { _ in Samples.time(Self.end) }
    }

    /// A history with requests in slots of 10 s, the last of which ends at 1000.
    private func history(_ instance: String, _ slots: Set<Int>) -> Report {
        let counts: [UInt64] = (0..<90).map { slots.contains($0) ? 1 : 0 }
        let row = ReportRow(
            dimensions: [.service: "checkout", .instance: instance],
            measures: RequestGroup(values: []).measures(seconds: 1), trend: .init(count: counts, failed: counts))
        return Report(
            from: "", to: "", by: [.service, .instance], completeness: nil, rowCount: 1, rows: [row], totals: row,
            totalsByKind: [:])
    }

    @Test func senderIsAwaitedUntilItHasReportedUpToTheEnd() {
        var awaited = awaited([sender("a", reported: 996), sender("b", reported: 999)])
        #expect(awaited.senders.map(\.instance) == ["a", "b"])
        awaited.look(at: report([sender("a", reported: 1006), sender("b", reported: 999)], at: 1007))
        #expect(awaited.senders.map(\.instance) == ["b"])
        awaited.look(at: report([sender("a", reported: 1006), sender("b", reported: 1009)], at: 1010))
        #expect(awaited.senders.isEmpty)
    }

    @Test func nobodyIsAwaitedForAWindowOfThePastOrAfterTheirEnd() {
        #expect(awaited([sender("a", reported: 1050)], at: 1051).senders.isEmpty)
        #expect(awaited([sender("a", reported: 870)]).senders.isEmpty)
    }

    @Test func windowThatEndsInTheFutureIsAwaitedUntilNow() {
        let early = AwaitedSenders(report([sender("a", reported: 940, lastSeen: 941)], at: 950)) { now in
            now + 50_000_000_000
        }
        #expect(early.end == Samples.time(950))
    }

    @Test func clockThatIsAheadHidesNoMissingData() {
        #expect(awaited([sender("a", reported: 1100, lastSeen: 990)]).senders.count == 1)
    }

    @Test func silentAgentIsIdleOnceItsIntervalIsOver() {
        var awaited = awaited([sender("a", reported: 980)])
        let steady = history("a", [85, 86, 87])
        awaited.look(at: report([sender("a", reported: 980)], at: 1005))
        awaited.removeIdle([steady])
        #expect(awaited.senders.count == 1)
        awaited.look(at: report([sender("a", reported: 980)], at: 1015))
        awaited.removeIdle([steady])
        #expect(awaited.senders.isEmpty)
    }

    @Test func silenceSaysNothingIfRequestsComeAtLongIntervalsOrWait() {
        let late = sender("a", reported: 958)
        func expected(_ sender: AgentRecord, _ slots: Set<Int>) -> Bool {
            var awaited = awaited([sender], at: 1015)
            awaited.removeIdle([history("a", slots)])
            return !awaited.senders.isEmpty
        }
        #expect(expected(late, [73, 79, 85]))
        #expect(!expected(late, [72, 73, 85]))
        #expect(!expected(late, [85]) && !expected(late, []))
        // A new agent may have a long interval.
        let new = sender("a", reported: 958, firstSeen: 958)
        #expect(expected(new, [85]) && !expected(new, []))
        #expect(expected(sender("a", reported: 958, waiting: 3), [72, 73]))
        // Metrics of other senders come without requests, too; spans do not.
        #expect(expected(sender("a", reported: 958, waiting: nil, [.client: .metrics]), [72, 73]))
        #expect(!expected(sender("a", reported: 958, waiting: nil, [.client: .spans]), [72, 73]))
    }

    @Test func resultNamesTheServiceOrTheInstance() {
        let late = sender("a", reported: 973)
        #expect(
            awaited([late], at: 1015).results(waited: 15_000_000_000) == [
                CheckResult(.unknown, "The newest data of checkout is 42 s old, after a wait of 15 s (--settle).")
            ])
        func sentence(_ others: [AgentRecord]) -> String? {
            awaited([late] + others, at: 1015).results(waited: 15_000_000_000).first?.sentence
        }
        #expect(
            sentence([sender("b", reported: 1010)])?.hasPrefix("The newest data of instance a of checkout is 42 s")
                == true)
        #expect(
            sentence([sender("b", reported: 990)])?.hasPrefix(
                "The newest data of 2 instances of checkout is up to 42 s")
                == true)
    }

    @Test func listFiltersBySendersOnly() throws {
        let list = try AwaitedSenders.list([(.service, "checkout"), (.endpoint, "/pay"), (.version, "2")])
        #expect(list.query.map(\.0) == ["since", "service", "version"])
    }
}
