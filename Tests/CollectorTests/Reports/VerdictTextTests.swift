import Foundation
import Testing

@testable import MartletReports

@Suite struct VerdictTextTests {
    private let changes = Verdict.Changes(
        failures: .init(before: 0.032, after: 0.0832), p50: nil, p95: quantile(123.4, 811), p99: nil, cliffsDelta: 0.2)

    private static func quantile(_ before: Double, _ after: Double) -> Verdict.Change<Verdict.Quantile> {
        .init(
            before: .init(value: before, interval: before - 1...before + 1),
            after: .init(value: after, interval: after - 9...after + 9))
    }

    @Test func aChangeIsToldFromAndTo() {
        #expect(VerdictText.changes(.worse(changes)) == "failures 3.20 → 8.32 %, p95 123 → 811 ms")
        let better = Verdict.Changes(failures: nil, p50: Self.quantile(59, 39.3), p95: nil, p99: nil, cliffsDelta: -0.5)
        #expect(VerdictText.changes(.better(better)) == "p50 59.0 → 39.3 ms")
        #expect(VerdictText.why(.better(better)).isEmpty)
    }

    @Test(
        arguments: [
            (
                .noChangeFound(wouldHaveSeen: .init(failures: 0.0231, p95: 0.126)), "=", "no change found",
                "p95 +13 % and failures +2.4 points would have been seen"
            ),
            (
                .noChangeFound(wouldHaveSeen: .init(failures: 0.12, p95: nil)), "=", "no change found",
                "failures +12 points would have been seen, of p95 none"
            ),
            (
                .noChangeFound(wouldHaveSeen: .init(failures: nil, p95: nil)), "=", "no change found",
                "too few requests to see any change"
            ),
            (.tooLittleData(.requests(0, in: .before)), "…", "too little data", "new: no requests before"),
            (.tooLittleData(.requests(1, in: .after)), "…", "too little data", "1 request now, of 30 that are needed"),
            (
                .tooLittleData(.blocks(2, in: .before)), "…", "too little data",
                "requests in 2 parts of the time before, of 6 that are needed"
            ),
        ] as [(Verdict, String, String, String)])
    func aRowWithoutAChangeTellsWhy(verdict: Verdict, sign: String, word: String, why: String) {
        #expect(VerdictText.sign(verdict) == sign)
        #expect(VerdictText.word(verdict) == word)
        #expect(VerdictText.why(verdict) == why)
        #expect(VerdictText.changes(verdict).isEmpty)
    }

    @Test func manyRowsTellFromTheMostTellingToTheLeast() {
        let rows: [Verdict.SmallestChange] = [.init(failures: 0.011, p95: 0.13), .init(failures: 0.35, p95: nil)]
        #expect(
            VerdictText.wouldHaveSeen(rows)
                == "p95 +13 % and failures +1.1 to +35 points would have been seen, in 1 of them none of p95")
    }

    @Test(
        arguments: [
            .tooLittleData(.requests(7, in: .after)), .tooLittleData(.blocks(2, in: .before)),
            .noChangeFound(wouldHaveSeen: .init(failures: 0.1, p95: nil)),
        ] as [Verdict])
    func aVerdictComesBackFromItsJSON(verdict: Verdict) throws {
        let json = try ReportJSON.text(of: verdict)
        #expect(try ReportJSON.value(of: Verdict.self, in: Data(json.utf8)) == verdict)
    }

    @Test func theJSONOfAChangeHasTheFixedNames() throws {
        let json = try ReportJSON.text(of: Verdict.worse(changes))
        #expect(
            json == """
                {
                  "answer" : "worse",
                  "cliffs_delta" : 0.2,
                  "failures" : {
                    "after" : 0.0832,
                    "before" : 0.032
                  },
                  "p95_ms" : {
                    "after" : {
                      "from" : 802,
                      "to" : 820,
                      "value" : 811
                    },
                    "before" : {
                      "from" : 122.4,
                      "to" : 124.4,
                      "value" : 123.4
                    }
                  }
                }

                """)
        #expect(try ReportJSON.value(of: Verdict.self, in: Data(json.utf8)) == .worse(changes))
        let broken = json.replacing("\"from\" : 802", with: "\"from\" : 1802")
        #expect(throws: DecodingError.self) { try ReportJSON.value(of: Verdict.self, in: Data(broken.utf8)) }
    }
}
