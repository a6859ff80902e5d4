import Foundation
import MartletReports
import MartletStorage
import Testing

@testable import MartletFindings

/// Findings as a person reads them in a terminal or a file.
@Suite struct FindingsTextTests {
    private func report(_ findings: [Finding], count: Int? = nil, isComplete: Bool = true) -> FindingsReport {
        let window = TimeWindow(from: Samples.time(0), to: Samples.time(3600))
        let answer = FindingsAnswer(findings: findings, count: count ?? findings.count, isComplete: isComplete)
        return FindingsReport(answer, to: FindingsQuestion(window: window))
    }

    private var outage: [Finding] {
        var fleet = SampleFleet()
        let call = SampleFleet.Traffic.client("todos", to: "partner")
        fleet.play(40, [call])
        fleet.play(10, [call.failing(0.9)])
        return fleet.findings()
    }

    @Test func findingIsASentenceWithWhatItIsMadeOfAndTheCommandThatShowsIt() throws {
        let text = FindingsText.text(of: report(outage), [CommandFlag("store", "sqlite:a")])
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines[0].hasPrefix("1 thing happened, 1 is ongoing."))
        #expect(lines[2].hasPrefix("1 ▲ failing   POST /orders of partner:80 fails since"))
        #expect(text.contains("(ongoing)") && text.contains("503 in "))
        #expect(text.contains("See it:  martlet-collector report --service todos"))
        #expect(text.hasSuffix(" --store sqlite:a\n"))
    }

    @Test func sentencesFitATerminal() throws {
        let device = OutputDevice(columns: 70)
        let lines = FindingsText.text(of: report(outage), on: device).split(separator: "\n")
        #expect(lines.dropFirst().filter { !$0.hasPrefix("See") }.allSatisfy { $0.count <= 70 })
    }

    @Test func namesCannotControlTheTerminal() throws {
        var finding = try #require(outage.first)
        (finding.title, finding.command) = ("\u{1b}[2J", "\u{1b}[2J")
        #expect(!FindingsText.text(of: report([finding])).contains("\u{1b}"))
    }

    @Test func silenceHasASentence() {
        #expect(FindingsText.text(of: report([])).hasPrefix("No findings."))
        #expect(FindingsText.text(of: report([], isComplete: false)).contains("Findings may be missing"))
        #expect(FindingsText.text(of: report(outage, count: 14)).contains("13 more;"))
    }
}
