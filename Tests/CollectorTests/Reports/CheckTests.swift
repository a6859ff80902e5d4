import MartletStorage
import MartletTelemetry
import Testing

@testable import MartletReports

@Suite struct CheckTests {
    private static let hour: UInt64 = 3_600_000_000_000

    private func report(_ rows: [ReportRow], completeness: Double? = 1) -> Report {
        Report(
            from: "2026-11-21T09:00:00Z", to: "2026-11-21T10:00:00Z", by: [.method, .endpoint],
            completeness: completeness, rowCount: rows.count, rows: rows,
            totals: ReportRow(dimensions: [:], measures: Self.measures(0, failed: 0)), totalsByKind: [:])
    }

    private func row(
        _ endpoint: String, _ count: UInt64 = 1000, failed: UInt64 = 0, p99: Double = 100,
        bounds: ReportRow.Bounds? = nil, verdict: Verdict? = nil
    ) -> ReportRow {
        var row = ReportRow(
            dimensions: [.method: "GET", .endpoint: endpoint], measures: Self.measures(count, failed: failed, p99: p99))
        (row.p99Bounds, row.verdict) = (bounds, verdict)
        return row
    }

    private static func measures(_ count: UInt64, failed: UInt64, p99: Double = 100) -> RequestMeasures {
        RequestMeasures(
            count: count, perSecond: 1,
            failures: .init(
                count: failed, rate: count > 0 ? Double(failed) / Double(count) : 0, transport: 0, http4xx: 0,
                http5xx: failed, hung: 0, cancelled: 0),
            latency: .init(mean: 1, p50: 1, p75: 1, p90: 1, p95: 1, p99: p99, max: p99), phases: [:],
            bytes: .init(sent: 0, received: 0), apdex: 1, impact: 0)
    }

    private func limits(
        rate: String? = nil, p99: String? = nil, slo: String? = nil, isCompared: Bool = false, hours: UInt64 = 1
    ) throws(ParameterError) -> CheckLimits {
        try CheckLimits(
            maxFailureRate: rate, maxP99: p99, objective: slo, isCompared: isCompared,
            window: TimeWindow(from: 0, to: hours * Self.hour))
    }

    // MARK: - The share of failed requests

    @Test func missingRequestsOfAServiceOnlyAffectItsRows() throws {
        func rows(small completeness: Double?) -> Report {
            var rows = [row("/big", 100_000), row("/small", 500, failed: 2)]
            (rows[0].dimensions[.service], rows[0].completeness) = ("big", 1)
            (rows[1].dimensions[.service], rows[1].completeness) = ("small", completeness)
            var report = report(rows, completeness: 0.995)
            report.by = [.service, .method, .endpoint]
            return report
        }
        let lossy = try limits(rate: "5%").results(for: rows(small: 0.5))[0]
        #expect(lossy.outcome == .unknown)
        #expect(lossy.sentence.contains("GET /small"))
        #expect(lossy.sentence.contains("between 0.20 and 50.20 %, 50.00 % arrived"))
        let silent = try limits(rate: "0.1%").results(for: rows(small: nil))[0]
        #expect(silent.outcome == .fails)
        #expect(silent.sentence.contains("completeness unknown"))
    }

    @Test func limitIsMetIfEveryRowIsWithinIt() throws {
        let results = try limits(rate: "5%").results(
            for: report([row("/a", failed: 50), row("/b", failed: 12)]))
        #expect(
            results == [
                CheckResult(
                    .holds, "No endpoint fails in more than 5.00 % of its requests (limit 5 %).")
            ])
    }

    @Test(
        arguments: [
            (1, "nothing lost"), (0.99, "between 0.00 and 1.00 %, 99.00 % arrived"), (nil, "completeness unknown"),
        ]
            as [(Double?, String)])
    func sentenceAboutAMetLimitSaysIfRequestsAreMissing(completeness: Double?, gap: String) throws {
        let report = report([row("/a", failed: 0)], completeness: completeness)
        let results = try limits(rate: "5%", p99: "1s").results(for: report)
        #expect(results.allSatisfy { $0.outcome == .holds })
        #expect(results[0].sentence.contains(" requests (limit 5 %, \(gap))."))
        #expect(results[1].sentence.hasSuffix(", \(gap.split(separator: ", ").last ?? ""))."))
    }

    @Test(
        arguments: [(1, ""), (0.99, ", at least 99.00 % arrived"), (nil, ", completeness unknown for some")]
            as [(Double?, String)])
    func gapOfOneServiceIsReportedAmongCompleteOnes(completeness: Double?, gap: String) throws {
        var rows = [row("/big"), row("/small")]
        (rows[0].completeness, rows[1].completeness) = (1, completeness)
        var report = report(rows)
        report.by = [.service, .method, .endpoint]
        let result = try limits(rate: "5%").results(for: report)[0]
        #expect(result.sentence.contains(" of its requests (limit 5 %\(gap))."))
    }

    @Test func worstRowPastTheLimitIsNamed() throws {
        let results = try limits(rate: "5%").results(
            for: report([row("/a", failed: 60), row("/pay", 2800, failed: 233), row("/c")]))
        #expect(
            results == [
                CheckResult(
                    .fails,
                    "GET /pay fails in 8.32 % of 2,800 requests (limit 5 %, nothing lost). "
                        + "Also: GET /a.")
            ])
    }

    /// 900 of 1000 requests arrived, and 36 of them failed, so 3.6 to 13.6 % of all requests failed.
    @Test(
        arguments: [
            ("14%", .holds), ("13.6%", .holds), ("13.5%", .unknown), ("4%", .unknown), ("3.6%", .unknown),
            ("3.5%", .fails),
        ]
            as [(String, CheckResult.Outcome)])
    func missingRequestsMayHaveFailedOrNot(limit: String, outcome: CheckResult.Outcome) throws {
        let result = try limits(rate: limit).results(for: report([row("/a", 900, failed: 36)], completeness: 0.9))[0]
        #expect(result.outcome == outcome)
        guard outcome == .unknown else { return }
        #expect(
            result.sentence.hasPrefix(
                "GET /a fails in 4.00 % of 900 requests (limit "))
        #expect(
            result.sentence.hasSuffix(" %, between 3.60 and 13.60 %, 90.00 % arrived). The missing requests decide."))
    }

    @Test func exceededRowTakesPrecedenceOverAnUndecidedOne() throws {
        let rows = [row("/open", failed: 0), row("/bad", failed: 500)]
        let result = try limits(rate: "1%").results(for: report(rows, completeness: 0.95))[0]
        #expect(result.outcome == .fails)
        #expect(result.sentence.hasPrefix("GET /bad fails in 50.00 %"))
    }

    @Test func unknownCompletenessIsReported() throws {
        let result = try limits(rate: "1%").results(for: report([row("/a", failed: 20)], completeness: nil))[0]
        #expect(result.sentence.contains("(limit 1 %, completeness unknown)"))
    }

    @Test func outcomeWithoutRequestsIsUnknown() throws {
        for limits in [try limits(rate: "1%"), try limits(p99: "1s")] {
            let results = limits.results(for: report([]))
            #expect(CheckResult.outcome(of: results) == .unknown)
        }
        #expect(CheckResult.outcome(of: []) == .unknown)
    }

    // MARK: - p99

    @Test func p99IsComparedWithALimitInAnyUnit() throws {
        let report = report([row("/a", p99: 1614.2), row("/b", p99: 799)])
        #expect(
            try limits(p99: "2s").results(for: report) == [
                CheckResult(.holds, "No endpoint has a p99 above 1.61 s (limit 2.00 s).")
            ])
        #expect(
            try limits(p99: "800ms").results(for: report) == [
                CheckResult(.fails, "p99 of GET /a is 1.61 s (limit 800 ms, nothing lost).")
            ])
    }

    @Test(
        arguments: [("100ms", .fails), ("150ms", .unknown), ("250ms", .unknown), ("300ms", .holds)]
            as [(String, CheckResult.Outcome)])
    func missingRequestsMayBeFastOrSlow(limit: String, outcome: CheckResult.Outcome) throws {
        let row = row("/a", p99: 200, bounds: .init(from: 120, to: 300))
        let result = try limits(p99: limit).results(for: report([row], completeness: 0.995))[0]
        #expect(result.outcome == outcome)
        let open = self.row("/a", p99: 200, bounds: .init(from: 120, to: nil))
        let other = try limits(p99: limit).results(for: report([open], completeness: 0.9))[0]
        #expect(other.outcome == (outcome == .fails ? .fails : .unknown))
        if outcome != .fails { #expect(other.sentence.contains(", between 120 ms and any time, 90.00 % arrived)")) }
    }

    // MARK: - Compared with another window

    private func compared(
        _ rows: [ReportRow], worse: Int = 0, better: Int = 0, same: Int = 0, few: Int = 0, gone: [ReportRow] = []
    ) -> Report {
        var report = report(rows)
        report.compare = ReportComparison(
            base: "previous", from: "2026-11-21T08:00:00Z", to: "2026-11-21T09:00:00Z", completeness: 1,
            pastHours: 0, worse: worse, better: better, same: same, tooLittleData: few,
            goneCount: gone.count, gone: gone)
        return report
    }

    @Test func severalWorseRowsAreNamed() throws {
        let worse = Verdict.worse(.init(failures: .init(before: 0.01, after: 0.06)))
        let rows = (1...8).map { row("/\($0)", verdict: worse) }
        let result = try limits(isCompared: true).results(for: compared(rows, worse: 8))[0]
        #expect(result.sentence.hasSuffix(" Also worse: GET /2, GET /3, GET /4, GET /5, GET /6 and 2 more."))
    }

    @Test func goneRowsAreNamed() throws {
        let same = row("/a", verdict: .noChangeFound(wouldHaveSeen: .init(failures: 0.004, p95: 0.2)))
        let report = compared([same], same: 1, gone: [row("/gone", 800), row("/old", 9)])
        let result = try limits(isCompared: true).results(for: report)[0]
        #expect(result.outcome == .holds)
        let gone = " 2 endpoints had requests in the hour before and have none now: GET /gone and GET /old."
        #expect(result.sentence.hasSuffix(gone))
    }

    @Test func worseRowFailsTheCheck() throws {
        let changes = Verdict.Changes(failures: .init(before: 0.01, after: 0.06))
        let report = compared([row("/a", verdict: .worse(changes))], worse: 1)
        #expect(
            try limits(isCompared: true).results(for: report) == [
                CheckResult(
                    .fails, "The only endpoint is worse, compared with the hour before. GET /a: failures 1.00 → 6.00 %."
                )
            ])
    }

    @Test func outcomeIsUnknownIfEveryRowHasTooLittleData() throws {
        let few = row("/a", verdict: .tooLittleData(.requests(3, in: .before)))
        let result = try limits(isCompared: true).results(for: compared([few], few: 1))[0]
        #expect(
            result
                == CheckResult(.unknown, "Not enough data to compare the only endpoint with the hour before."))
    }

    /// If nothing failed before, a ratio of failures would be meaningless.
    @Test func baselineWithoutFailuresCanBeCompared() throws {
        let same = row("/a", verdict: .noChangeFound(wouldHaveSeen: .init(failures: 0.004, p95: 0.2)))
        let result = try limits(isCompared: true).results(for: compared([same], same: 1))[0]
        #expect(
            result == CheckResult(.holds, "The only endpoint was not found to be worse, compared with the hour before.")
        )
    }

    @Test func missingRequestsMayHaveMadeARowWorse() throws {
        let same = row("/a", verdict: .noChangeFound(wouldHaveSeen: .init(failures: 0.02, p95: nil)))
        for (completeness, outcome) in [(0.985, .holds), (0.975, .unknown)] as [(Double, CheckResult.Outcome)] {
            var report = compared([same], same: 1)
            report.completeness = completeness
            let result = try limits(isCompared: true).results(for: report)[0]
            #expect(result.outcome == outcome)
            #expect(result.sentence.contains("of those in the hour before; the missing ones could change a verdict."))
        }
    }

    // MARK: - An objective

    private func burn(
        _ slo: String, hours: UInt64 = 1, long: (UInt64, UInt64), short: (UInt64, UInt64)?, completeness: Double = 1
    ) throws -> CheckResult {
        func totals(_ counts: (UInt64, UInt64)?) -> Report {
            var report = report([], completeness: completeness)
            report.totalsByKind[.server] = counts.map {
                ReportRow(dimensions: [:], measures: Self.measures($0.0, failed: $0.1))
            }
            return report
        }
        let check = try #require(try limits(slo: slo, hours: hours).burnRate)
        return try #require(check.results(long: totals(long), short: totals(short)).first)
    }

    @Test(
        arguments: [
            ((10_000, 200), (1000, 20), .fails), ((10_000, 200), (1000, 14), .holds),
            ((10_000, 143), (1000, 20), .holds),
            ((10_000, 200), nil, .unknown), ((10_000, 100), nil, .holds),
        ] as [((UInt64, UInt64), (UInt64, UInt64)?, CheckResult.Outcome)])
    func objectiveIsMissedIfTheBudgetBurnsInBothWindows(
        long: (UInt64, UInt64), short: (UInt64, UInt64)?, outcome: CheckResult.Outcome
    ) throws {
        #expect(try burn("99.9%", long: long, short: short).outcome == outcome)
    }

    /// Shares of failed requests that use up the budget exactly at the allowed pace.
    @Test(
        arguments: [
            ("99.9%", 6, 6, 1000), ("99.9%", 1, 144, 10_000), ("99.95%", 6, 3, 1000), ("99.95%", 1, 72, 10_000),
            ("99.5%", 6, 30, 1000), ("99.5%", 1, 72, 1000), ("99.99%", 6, 6, 10_000), ("99.99%", 1, 144, 100_000),
            ("99%", 6, 60, 1000), ("99%", 1, 144, 1000), ("95%", 6, 300, 1000), ("99.9%", 72, 1, 1000),
            ("99.7%", 6, 18, 1000), ("99.999%", 72, 1, 100_000),
        ] as [(String, UInt64, UInt64, UInt64)])
    func paceExactlyAtTheLimitIsAllowed(slo: String, hours: UInt64, failed: UInt64, count: UInt64) throws {
        for (extra, outcome) in [(0, .holds), (1, .fails)] as [(UInt64, CheckResult.Outcome)] {
            let counts = (count, failed + extra)
            #expect(try burn(slo, hours: hours, long: counts, short: counts).outcome == outcome, "\(extra)")
        }
    }

    @Test func burnRateIsReportedForBothWindows() throws {
        #expect(
            try burn("99.9%", long: (10_000, 200), short: (1000, 30)).sentence == """
                The burn rate of incoming requests is 20.0 over 1 h and 30.0 over the last 5 min \
                (objective 99.90 %, limit 14.4 over both, nothing lost).
                """)
        #expect(
            try burn("99%", long: (100, 20), short: nil).sentence.contains(
                ", without requests in the last 5 min (objective 99.00 %, limit 14.4 over both, nothing lost)."))
    }

    @Test func budgetWithoutRequestsIsUnknown() throws {
        let check = try #require(try limits(slo: "99.9%").burnRate)
        #expect(
            check.results(long: report([]), short: report([]))
                == [CheckResult(.unknown, "There were no requests in the last 1 h, so slo cannot be checked.")])
    }

    @Test func missingRequestsCanLeaveTheBudgetUndecided() throws {
        #expect(try burn("99.9%", long: (10_000, 0), short: (1000, 0), completeness: 0.95).outcome == .unknown)
        #expect(try burn("99.9%", long: (10_000, 0), short: (1000, 0), completeness: 0.99).outcome == .holds)
        #expect(try burn("99.9%", long: (10_000, 900), short: (1000, 90), completeness: 0.95).outcome == .fails)
    }

    @Test(
        arguments: [(1, 3600, 300), (5, 3600, 300), (6, 21_600, 1800), (72, 259_200, 21_600)]
            as [(UInt64, Double, Double)])
    func longestPairOfWindowsThatFitsIsPicked(hours: UInt64, long: Double, short: Double) throws {
        let check = try #require(try limits(slo: "99.9%", hours: hours).burnRate)
        let windows = check.windows(endingAt: 100 * Self.hour)
        #expect([windows.long.seconds, windows.short.seconds] == [long, short])
        #expect(windows.long.to == 100 * Self.hour && windows.short.to == 100 * Self.hour)
    }

    // MARK: - Flags

    @Test(arguments: ["", "1", "%", "-1%", "101%", "1.2.3%", "1e1%", "one%", "0x1%", "1 %"])
    func limitThatIsNotAPercentageIsRefused(text: String) {
        #expect(throws: ParameterError.self) { try limits(rate: text) }
        #expect(throws: ParameterError.self) { try limits(slo: text) }
    }

    @Test func limitsThatCanNeverFailAreRefused() throws {
        #expect(throws: ParameterError.self) { try limits() }
        #expect(throws: ParameterError.self) { try limits(p99: "fast") }
        for slo in ["100%", "0%"] { #expect(throws: ParameterError.self) { try limits(slo: slo) } }
        #expect(throws: ParameterError("slo needs a window of at least 1h")) {
            try CheckLimits(
                maxFailureRate: nil, maxP99: nil, objective: "99%", isCompared: false,
                window: TimeWindow(from: 1, to: Self.hour))
        }
        // No failure rate reaches 14.4 times 10 %.
        #expect(throws: ParameterError.self) { try limits(slo: "90%") }
        _ = try limits(slo: "90%", hours: 72)
    }

    @Test func lineBeginsWithItsSign() {
        let lines = [(CheckResult.Outcome.holds, "✓ a\n"), (.fails, "✗ a\n"), (.unknown, "? a\n")]
        for (outcome, line) in lines { #expect(CheckResult(outcome, "a").line(on: .file) == line) }
        #expect(CheckResult(.fails, "a").line(on: OutputDevice(isColored: true)) == "\u{1b}[31m✗\u{1b}[0m a\n")
    }

    @Test func oneExceededLimitDecidesTheOutcome() {
        func outcome(_ outcomes: [CheckResult.Outcome]) -> CheckResult.Outcome {
            CheckResult.outcome(of: outcomes.map { CheckResult($0, "") })
        }
        #expect(outcome([.holds, .unknown, .fails]) == .fails)
        #expect(outcome([.holds, .unknown]) == .unknown)
        #expect(outcome([.holds, .holds]) == .holds)
    }
}
