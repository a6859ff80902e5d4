import MartletReports
import MartletStorage
import MartletTelemetry
import Testing

@Suite struct ReportTableTests {
    private func table(endpoint: String, damaged: Int = 0, completeness: Double = 0.99999) -> String {
        let statistics = Samples.statistics([0.025, 0.025, 1.5], received: 2048)
        let window = TimeWindow(from: Samples.time(0), to: Samples.time(60))
        let answer = StatisticsAnswer(
            window: window, groups: [Samples.group(["checkout", endpoint], [(Samples.dimensions(), statistics)])],
            completeness: completeness, damagedPoints: damaged)
        return ReportTable.text(
            of: Report(
                answer, for: ReportRequest(query: StatisticsQuery(window: window, by: [.service, .endpoint]))))
    }

    @Test func itShowsWindowCompletenessFiguresAndTotals() {
        #expect(
            table(endpoint: "/users/{id}") == """
                2026-09-21T14:13:20Z to 2026-09-21T14:14:20Z, completeness 99.99 %

                service   endpoint     count     rate  failed      p50      p95      p99      max  received  apdex    impact
                checkout  /users/{id}      3  0.050/s  0.00 %  25.0 ms  1500 ms  1500 ms  1500 ms   2.0 KiB   0.83  100.00 %
                total                      3  0.050/s  0.00 %  25.0 ms  1500 ms  1500 ms  1500 ms   2.0 KiB   0.83  100.00 %

                """)
    }

    @Test(arguments: ["\u{1b}[2J", "\u{9b}2J", "\r\n", "\u{202e}", "\u{200b}", "\u{2028}", "\0", "\u{7f}"])
    func whatWouldSteerATerminalIsWrittenOut(hostile: String) {
        let text = table(endpoint: "/a" + hostile + "/b")
        for scalar in hostile.unicodeScalars where scalar.value < 0x20 || scalar.value > 0x7e {
            #expect(text.contains("\\u{\(String(scalar.value, radix: 16))}"))
            if scalar != "\n" { #expect(!text.unicodeScalars.contains(scalar)) }
        }
        #expect(text.split(separator: "\n").count == 4)
    }

    @Test func aLongNameIsCut() {
        let text = table(endpoint: String(repeating: "long", count: 100))
        #expect(text.contains("longlon…"))
        #expect(text.split(separator: "\n").allSatisfy { $0.count <= 160 })
    }

    @Test func damagedPointsAreTold() {
        #expect(table(endpoint: "/", damaged: 2).contains("2 points were damaged"))
    }
}
