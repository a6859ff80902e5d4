import MartletReports
import MartletStorage
import MartletTelemetry
import Testing

@Suite struct ReportTableTests {
    private let window = TimeWindow(from: Samples.time(0), to: Samples.time(60))

    private func table(endpoint: String, damaged: Int = 0, account: WindowAccount? = nil) -> String {
        let statistics = Samples.statistics([0.025, 0.025, 1.5], received: 2048)
        let query = StatisticsQuery(window: window, by: [.service, .endpoint])
        let answer = StatisticsAnswer(
            query, window: window,
            sums: [Samples.group(["checkout", endpoint, "client"], [(Samples.dimensions(), statistics)])],
            account: account ?? Samples.account(window, arrived: 0.99999), damagedPoints: damaged)
        return ReportTable.text(
            of: Report(answer, for: query))
    }

    @Test func tableShowsWindowCompletenessFiguresAndTotals() {
        #expect(
            table(endpoint: "/users/{id}") == """
                None of 3 requests failed.
                2026-09-21T14:13:20Z to 2026-09-21T14:14:20Z, incomplete (99.99 %)

                service   endpoint     count  per s  failed  failed %  hung  cancelled  p50 ms  p95 ms  p99 ms  max ms  \
                received KiB  apdex  impact %
                checkout  /users/{id}      3  0.050       0      0.00     0          0    25.0   1,500   1,500   1,500  \
                        2.00   0.83    100.00
                total                      3  0.050       0      0.00     0          0    25.0   1,500   1,500   1,500  \
                        2.00   0.83    100.00

                See them:  martlet-collector requests

                """)
    }

    @Test(arguments: ["\u{1b}[2J", "\u{9b}2J", "\r\n", "\u{202e}", "\u{200b}", "\u{2028}", "\0", "\u{7f}"])
    func controlCharactersAreEscaped(hostile: String) {
        let text = table(endpoint: "/a" + hostile + "/b")
        for scalar in hostile.unicodeScalars where scalar.value < 0x20 || scalar.value > 0x7e {
            #expect(text.contains("\\u{\(String(scalar.value, radix: 16))}"))
            if scalar != "\n" { #expect(!text.unicodeScalars.contains(scalar)) }
        }
        #expect(text.split(separator: "\n").count == 6)
    }

    private func heading(_ account: WindowAccount) -> [Substring] {
        table(endpoint: "/", account: account).split(separator: "\n")[1...2] + []
    }

    @Test func timeWithoutCaptureIsReported() {
        var account = WindowAccount(TimeWindow(from: Samples.time(0), to: Samples.time(3600)))
        let hour = 3600e9
        for off in [180e9, 0, 0, 0] { account.add(arrived: 1, captured: 1, time: .init(lived: hour, unwatched: off)) }
        #expect(
            heading(account) == [
                "2026-09-21T14:13:20Z to 2026-09-21T14:14:20Z, incomplete (98.75 %)",
                "capture was off for 3 of 60 minutes on 1 of 4 instances",
            ])
        account.add(arrived: 1, captured: 1, time: .init(lived: hour, unwatched: 1e9))
        #expect(heading(account)[1] == "capture was off for up to 3 of 60 minutes on 2 of 5 instances")
    }

    @Test(arguments: [
        (5, 10, "5 of 10 seconds"), (2.34, 10, "2.3 of 10 seconds"), (1, 3600, "less than 0.1 of 60 minutes"),
        (3600, 604_800, "1 of 168 hours"),
    ])
    func timeWithoutCaptureIsReportedInTheUnitOfTheWindow(off: Double, window: UInt64, text: String) {
        var account = WindowAccount(TimeWindow(from: Samples.time(0), to: Samples.time(window)))
        account.add(arrived: 0, captured: 0, time: .init(lived: Double(window) * 1e9, unwatched: off * 1e9))
        #expect(heading(account)[1] == "capture was off for \(text) on 1 of 1 instance")
    }

    @Test(arguments: [
        (1, "the clock of 1 sender is at least 2.0 min ahead: its requests are dated too late"),
        (3, "the clocks of 3 senders are ahead, one by at least 2.0 min: their requests are dated too late"),
    ])
    func clocksThatAreAheadAreReported(senders: Int, text: String) {
        var account = WindowAccount(window)
        account.clocksAhead = .init(senders: senders, longest: 120_000_000_000)
        #expect(heading(account)[1] == text)
    }

    @Test func completenessIsUnknownIfNoAgentReported() {
        #expect(heading(WindowAccount(window))[0].hasSuffix("completeness unknown"))
    }

    @Test(arguments: [(1, "1 sender"), (3, "3 senders")])
    func cumulativeCountersThatWereNotCountedAreReported(senders: Int, inWords: String) {
        var account = Samples.account(window, arrived: 1)
        account.uncountedSenders = senders
        let sentence =
            "cumulative counters of \(inWords) were not counted (--max-cumulative-streams); some requests are missing"
        #expect(heading(account).contains { $0.contains(sentence) })
    }

    @Test(arguments: [(1, "1 sender is"), (3, "3 senders are")])
    func sendersThatSeveralProcessesShareAreReported(senders: Int, inWords: String) {
        var account = Samples.account(window, arrived: 1)
        account.sharedSenders = senders
        let sentence = "\(inWords) shared by several processes, so some requests may be missing"
        #expect(heading(account).contains { $0.contains(sentence) })
    }

    @Test func damagedPointsAreReported() {
        #expect(table(endpoint: "/", damaged: 2).contains("2 points damaged on disk"))
    }
}
