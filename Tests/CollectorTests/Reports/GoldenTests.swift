import Foundation
import Testing

@testable import MartletReports

/// Compares every output of one report with a file.
@Suite struct GoldenTests {
    @Test func terminalShowsTheReportPlainInColorAndWithPhases() throws {
        for (isColored, file) in [(false, "table-120.txt"), (true, "table-120-color.txt")] {
            let device = OutputDevice(columns: 120, isColored: isColored)
            try expect(ReportTable.text(of: SampleReport.report, SampleReport.context, on: device), in: file)
        }
        var phases = SampleReport.context
        phases.showsPhases = true
        let text = ReportTable.text(of: SampleReport.report, phases, on: OutputDevice(columns: 120))
        try expect(text, in: "phases-120.txt")
    }

    @Test(arguments: [20, 40, 60, 80, 100, 120, 160, 200])
    func noLineOfATableIsLongerThanTheTerminal(columns: Int) {
        let text = ReportTable.text(
            of: SampleReport.report, SampleReport.context, on: OutputDevice(columns: columns))
        let table = text.split(separator: "\n", omittingEmptySubsequences: false).drop { !$0.isEmpty }.dropLast(3)
        for line in table where !line.hasPrefix("Outgoing") && !line.hasPrefix("Incoming") {
            #expect(TextWidth.of(String(line)) <= max(columns, 66), "\(line)")
        }
    }

    @Test func fileHasEveryColumnUncut() throws {
        var context = SampleReport.context
        context.now = nil
        let text = ReportTable.text(of: SampleReport.report, context)
        try expect(text, in: "table-file.txt")
        #expect(!text.contains("…"))
        #expect(!text.unicodeScalars.contains { ("▁"..."▏").contains($0) })
    }

    @Test func programsGetAFixedFormat() throws {
        try expect(ReportCSV.text(of: SampleReport.report), in: "report.csv")
        try expect(ReportMarkdown.text(of: SampleReport.report), in: "report.md")
        try expect(try ReportJSON.text(of: SampleReport.report), in: "report.json")
    }

    @Test func noOutputHasACharacterThatControlsATerminal() throws {
        let outputs = [
            ReportTable.text(of: SampleReport.report), ReportCSV.text(of: SampleReport.report),
            ReportMarkdown.text(of: SampleReport.report), try ReportJSON.text(of: SampleReport.report),
        ]
        for output in outputs {
            let steering = output.unicodeScalars.filter { $0 != "\r" && $0 != "\n" && !TerminalText.isPlain($0) }
            #expect(steering.isEmpty)
        }
    }

    @Test func jsonDecodesToTheSameReport() throws {
        let json = try ReportJSON.text(of: SampleReport.report)
        #expect(try ReportJSON.value(of: Report.self, in: Data(json.utf8)) == SampleReport.report)
    }
}
