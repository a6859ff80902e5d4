import Testing

@testable import MartletReports

/// Findings above a report.
@Suite struct FindingLinesTests {
    private static let outage = FindingLines.Line(
        sign: "▲", kind: "failing",
        sentence:
            "POST /orders of partner:9000 fails since 09:31 in 100 % of 528 requests (before: 0 of 1,410) (ongoing)")
    private static let wait = FindingLines.Line(
        sign: "◐", kind: "starved", sentence: "Tasks of todos waited for a thread from 09:19 to 09:25")

    private func context(_ lines: [FindingLines.Line], others: Int = 0) -> ReportContext {
        var context = SampleReport.context
        context.findings = FindingLines(lines, others: others, command: "martlet-collector findings --since 1h")
        return context
    }

    private func lines(_ text: String) -> [String] {
        text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    @Test func reportBeginsWithWhatHappenedAndGoesOnAsEver() {
        for device in [OutputDevice.file, OutputDevice(columns: 120)] {
            let usual = ReportTable.text(of: SampleReport.report, SampleReport.context, on: device)
            let findings = context([Self.outage, Self.wait], others: 2)
            let text = lines(ReportTable.text(of: SampleReport.report, findings, on: device))
            #expect(
                Array(text.prefix(4)) == [
                    "▲ failing   \(Self.outage.sentence)", "◐ starved   \(Self.wait.sentence)",
                    "and 2 more: martlet-collector findings --since 1h", "",
                ])
            #expect(Array(text.dropFirst(4)) == lines(usual))
        }
    }

    @Test func emptyReportHasThemToo() {
        var report = SampleReport.report
        (report.rows, report.rowCount, report.empty) = ([], 0, .nothingFound)
        let text = ReportTable.text(of: report, context([Self.wait]))
        #expect(text.hasPrefix("◐ starved   \(Self.wait.sentence)\n\n"))
    }

    @Test func sentenceIsWrappedNextToItsKind() {
        let text = lines(
            ReportTable.text(of: SampleReport.report, context([Self.outage]), on: OutputDevice(columns: 60)))
        #expect(
            Array(text.prefix(4)) == [
                "▲ failing   POST /orders of partner:9000 fails since 09:31",
                "            in 100 % of 528 requests (before: 0 of 1,410)", "            (ongoing)", "",
            ])
    }

    @Test func markdownIsAListInWhichNamesAreNoMarkup() {
        let hostile = FindingLines.Line(sign: "▲", kind: "slow", sentence: "GET /<b>*a* of @team\u{1b}[2J")
        let text = ReportMarkdown.text(of: SampleReport.report, context([Self.wait, hostile], others: 1))
        #expect(
            text.hasPrefix(
                """
                - ◐ **starved** \(Self.wait.sentence)
                - ▲ **slow** GET /&lt;b&gt;\\*a\\* of @&#8288;team\\\\u{1b}\\[2J

                and 1 more:

                    martlet-collector findings --since 1h

                549 of 19,635 outgoing
                """))
    }

    @Test func topBeginsWithThem() {
        var state = TopState(order: .impact)
        state.take(.report(SampleReport.report, context([Self.outage, Self.wait])), to: .report(.impact))
        let now = TimeText.parse("2026-11-21T10:00:02Z", now: 0) ?? 0
        let screen = TopScreen.lines(of: state, on: OutputDevice(columns: 120), height: 30, now: now)
        #expect(screen[0].hasPrefix("▲ failing   POST /orders of partner:9000 fails"))
        #expect(
            screen.contains { $0.hasPrefix("◐ starved   ") } && screen.contains { $0.contains("requests failed, ") })
    }
}
