import MartletStorage
import Testing

@testable import MartletReports

/// Which rows share a headline. Slots are a minute long.
@Suite struct ChangeHeadlineTests {
    private func row(
        _ endpoint: String, service: String = "shop", _ verdict: Verdict, since: String? = nil, until: String? = nil
    ) -> ReportRow {
        var row = ReportRow(
            dimensions: [.service: service, .method: "GET", .endpoint: endpoint],
            measures: RequestGroup(values: []).measures(seconds: 1))
        row.verdict = verdict
        row.changed = since.map { ChangedTime(from: $0, until: until, isFromStart: $0 == Self.start) }
        return row
    }

    private static let start = "2026-11-21T09:00:00Z"

    private func failing(_ before: Double = 0, _ after: Double) -> Verdict {
        .worse(.init(failures: .init(before: before, after: after)))
    }

    private func slow(_ after: Double) -> Verdict.Changes {
        .init(p95: .init(before: 100, after: after))
    }

    private func headlines(_ rows: [ReportRow]) -> [[String]] {
        let report = Report(
            from: Self.start, to: "2026-11-21T10:00:00Z", by: [.service, .method, .endpoint], step: 60,
            completeness: 1, rowCount: rows.count, rows: rows,
            totals: ReportRow(dimensions: [:], measures: RequestGroup(values: []).measures(seconds: 1)),
            totalsByKind: [:])
        return ChangeHeadline.all(in: report).map(\.names)
    }

    @Test func outageInSeveralRowsIsOneHeadlineThatTellsThemApart() {
        #expect(
            headlines([
                row("/pay", failing(0, 0.5), since: "2026-11-21T09:30:00Z"),
                row("/pay", service: "admin", failing(0, 1), since: "2026-11-21T09:31:00Z"),
                row("/keys", failing(0, 0.2), since: "2026-11-21T09:30:00Z"),
            ]) == [["admin GET /pay", "shop GET /pay", "GET /keys"]])
    }

    @Test func otherTimesAndOtherFiguresAreOtherHeadlines() {
        #expect(
            headlines([
                row("/better", .better(slow(10)), since: Self.start),
                row("/slow", .worse(slow(900)), since: Self.start),
                row("/early", failing(0, 0.1), since: "2026-11-21T09:10:00Z"),
                row("/late", failing(0, 0.3), since: "2026-11-21T09:30:00Z"),
                row("/over", failing(0, 0.2), since: "2026-11-21T09:30:00Z", until: "2026-11-21T09:40:00Z"),
                row("/start", failing(0, 0.05), since: Self.start),
            ]) == [["GET /late"], ["GET /over"], ["GET /early"], ["GET /start"], ["GET /slow"], ["GET /better"]])
    }

    @Test func rowsWithoutATimeShareAHeadlineIfTheWordsAreTheSame() {
        #expect(
            headlines([row("/a", failing(0, 1)), row("/b", failing(0, 1)), row("/c", failing(0, 0.9))])
                == [["GET /a", "GET /b"], ["GET /c"]])
    }
}
