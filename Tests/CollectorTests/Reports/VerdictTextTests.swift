import Foundation
import Testing

@testable import MartletReports

@Suite struct VerdictTextTests {
    private let changes = Verdict.Changes(
        failures: .init(before: 0.032, after: 0.0832), p95: .init(before: 123.4, after: 811))

    @Test func changeIsWrittenFromBeforeToAfter() {
        #expect(VerdictText.changes(.worse(changes)) == "failures 3.20 → 8.32 %, p95 123 → 811 ms")
        let better = Verdict.Changes(p50: .init(before: 59, after: 39.3))
        #expect(VerdictText.changes(.better(better)) == "p50 59.0 → 39.3 ms")
        #expect(VerdictText.why(.better(better)).isEmpty)
    }

    @Test(
        arguments: [
            (
                .noChangeFound(wouldHaveSeen: .init(failures: 0.0231, p95: 0.126)), "=", "no change found",
                "a rise of 13 % in p95 or of 2.4 points in failures would have been detected"
            ),
            (
                .noChangeFound(wouldHaveSeen: .init(failures: 0.12, p95: nil)), "=", "no change found",
                "a rise of 12 points in failures would have been detected; too few requests to judge p95"
            ),
            (
                .noChangeFound(wouldHaveSeen: .init(failures: 0.12, p95: 62.66)), "=", "no change found",
                "a rise of 12 points in failures would have been detected; too few requests to judge p95"
            ),
            (
                .noChangeFound(wouldHaveSeen: .init(failures: nil, p95: nil)), "=", "no change found",
                "too few requests to detect any change"
            ),
            (.tooLittleData(.requests(0, in: .before)), "…", "not enough data", "new: no requests before"),
            (.tooLittleData(.requests(1, in: .after)), "…", "not enough data", "1 request now, 30 needed"),
            (
                .tooLittleData(.minutes(2, in: .before)), "…", "not enough data",
                "requests in 2 minutes before, 6 needed"
            ),
        ] as [(Verdict, String, String, String)])
    func rowWithoutAChangeSaysWhy(verdict: Verdict, sign: String, word: String, why: String) {
        #expect(VerdictText.sign(verdict) == sign)
        #expect(VerdictText.word(verdict) == word)
        #expect(VerdictText.why(verdict) == why)
        #expect(VerdictText.changes(verdict).isEmpty)
    }

    @Test func detectableChangesOfSeveralRowsAreRanges() {
        let rows: [Verdict.SmallestChange] = [.init(failures: 0.011, p95: 0.13), .init(failures: 0.35, p95: nil)]
        #expect(
            VerdictText.wouldHaveSeen(rows)
                == "a rise of 13 % in p95 or of 1.1 to 35 points in failures would have been detected; too few requests to judge p95 in 1 of them"
        )
    }

    @Test(
        arguments: [
            .tooLittleData(.requests(7, in: .after)), .tooLittleData(.minutes(2, in: .before)),
            .noChangeFound(wouldHaveSeen: .init(failures: 0.1, p95: nil)),
        ] as [Verdict])
    func verdictSurvivesJSON(verdict: Verdict) throws {
        let json = try ReportJSON.text(of: verdict)
        #expect(try ReportJSON.value(of: Verdict.self, in: Data(json.utf8)) == verdict)
    }

    @Test func jsonOfAChangeHasTheFixedNames() throws {
        let json = try ReportJSON.text(of: Verdict.worse(changes))
        #expect(
            json == """
                {
                  "answer" : "worse",
                  "failures" : {
                    "after" : 0.0832,
                    "before" : 0.032
                  },
                  "p95_ms" : {
                    "after" : 811,
                    "before" : 123.4
                  }
                }

                """)
        #expect(try ReportJSON.value(of: Verdict.self, in: Data(json.utf8)) == .worse(changes))
    }
}
