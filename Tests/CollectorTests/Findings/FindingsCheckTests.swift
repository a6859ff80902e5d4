import MartletReports
import MartletStorage
import Testing

@testable import MartletFindings

/// `check --no-findings`.
@Suite struct FindingsCheckTests {
    private func report(_ findings: [Finding], count: Int? = nil, isComplete: Bool = true) -> FindingsReport {
        let window = TimeWindow(from: Samples.time(0), to: Samples.time(3600))
        let answer = FindingsAnswer(findings: findings, count: count ?? findings.count, isComplete: isComplete)
        return FindingsReport(answer, to: FindingsQuestion(window: window))
    }

    private func outage(_ title: String = "GET /orders of orders fails") -> Finding {
        Finding(
            id: "f-1", kind: .failing, since: 1, until: nil, isOpen: true, title: title,
            subject: FindingSubject(service: "orders", kind: .server, method: "GET", endpoint: "/orders"),
            cost: FindingCost(requests: 1, seconds: 0, processes: 0), before: nil, after: nil, who: [], what: [],
            side: nil, deployment: nil, also: [], command: "", page: "")
    }

    @Test func kindsAreAListOrAll() throws {
        #expect(try FindingsCheck("all").kinds.isEmpty)
        #expect(try FindingsCheck("failing,new-error").kinds == [.failing, .newError])
        for text in ["", "failing,", "all,slow", "Failing", "failing slow"] {
            let error = #expect(throws: ParameterError.self) { try FindingsCheck(text) }
            #expect(error?.description.hasPrefix("no-findings must be one of all, ended, ") == true)
        }
    }

    @Test func eachFindingIsALineAndTheOthersAreCounted() throws {
        let results = try FindingsCheck("all").results(for: report([outage(), outage("\u{1b}[2J")], count: 14))
        #expect(results.allSatisfy { $0.outcome == .fails })
        #expect(
            results.map(\.sentence) == [
                "failing: GET /orders of orders fails.", "failing: \\u{1b}[2J.", "12 more.",
            ])
    }

    /// What is known to have happened counts, even if other things are unknown.
    @Test func answerWithGapsIsUnknownUnlessItHasAFinding() throws {
        let check = try FindingsCheck("failing,slow")
        let quiet = check.results(for: report([]))
        #expect(quiet == [CheckResult(.holds, "No findings (failing, slow).")])
        #expect(try FindingsCheck("all").results(for: report([])) == [CheckResult(.holds, "No findings.")])
        #expect(check.results(for: report([], isComplete: false)).map(\.outcome) == [.unknown])
        #expect(check.results(for: report([outage()], isComplete: false)).map(\.outcome) == [.fails])
        #expect(check.results(for: nil).map(\.outcome) == [.unknown])
    }

    @Test func findingsAboutOtherRequestsAreLeftOut() throws {
        let (check, all) = (try FindingsCheck("all"), report([outage()]))
        #expect(check.results(for: all.selecting(RequestFilter([.kind: ["client"]]))).map(\.outcome) == [.holds])
        #expect(check.results(for: all.selecting(RequestFilter([.kind: ["server"]]))).map(\.outcome) == [.fails])
        #expect(check.results(for: all.selecting(RequestFilter([.system: ["redis"]]))).map(\.outcome) == [.holds])
        // Findings past the tenth may be about these requests.
        let cut = report([outage()], count: 12).selecting(RequestFilter([.kind: ["client"]]))
        #expect(cut.count == 11 && check.results(for: cut).map(\.outcome) == [.unknown])
    }
}
