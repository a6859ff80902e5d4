import Fixtures
import MartletSQLiteStorage
import MartletStorage
import MartletTelemetry
import Testing

@testable import MartletReports

/// The sentences of a compared report.
@Suite struct ComparisonTextTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func query(by: [MartletStorage.Dimension] = [.service, .kind, .endpoint]) -> StatisticsQuery {
        StatisticsQuery(window: ComparedStore.window, by: by)
    }

    @Test func missingRequestsInEitherWindowAreReported() async throws {
        let store = try await ComparedStore(in: folder, missing: 5).storage
        let report = try await store.report(query(), comparedWith: .previous)
        let text = ReportTable.text(of: report, on: OutputDevice(columns: 120))
        #expect(text.contains("\n81.81 % of the requests arrived, and all of those in the hour before; the missing "))
        #expect(report.rows.allSatisfy { row in row.p99Bounds.map { $0.from <= row.measures.latency.p99 } == true })
        #expect(report.compare?.gone.allSatisfy { $0.p99Bounds == nil } == true)
    }

    @Test func everyWorseRowHasALineAndTheLargestChangeIsFirst() async throws {
        var report = try await ComparedStore(in: folder).storage.report(query(), comparedWith: .previous)
        let worse = try #require(report.rows.first)
        let outage = Verdict.Changes(failures: .init(before: 0, after: 1))
        report.rows = (0..<14).map { index in
            var row = worse
            row.dimensions[.endpoint] = "/\(index)\u{202e}"
            if index == 13 { row.verdict = .worse(outage) }
            return row
        }
        report.compare?.worse = 16
        let text = ReportTable.text(of: report)
        let lines = text.split(separator: "\n").filter { $0.hasPrefix("▲ worse") }
        #expect(lines.count == 14)
        #expect(lines.first?.contains("failures 0 → 100 %") == true, "\(lines)")
        #expect(text.contains("\n  and more: 2 worse, 1 gone, 1 better\n"))
        #expect(text.unicodeScalars.allSatisfy { $0 == "\n" || TerminalText.isPlain($0) })
    }

    @Test func onlyNewRowsAmongTheShownOnesAreCountedIfSomeAreHidden() async throws {
        var report = try await ComparedStore(in: folder).storage.report(query(), comparedWith: .previous)
        #expect(ReportTable.text(of: report).contains("… not enough data in 1, 1 of them new"))
        report.rows.removeAll { $0.text(of: .endpoint) != "/keys" }
        #expect(ReportTable.text(of: report).contains("… not enough data in 1, 1 of those shown is new"))
    }

    @Test(
        arguments: [
            ([.endpoint], "2 of 6 endpoints are worse"),
            ([.service, .kind, .method, .endpoint], "3 of 7 endpoints are worse"),
            ([.service], "2 of 2 services are worse"), ([.service, .kind], "3 of 3 rows are worse"),
        ] as [([MartletStorage.Dimension], String)])
    func answerUsesTheRightWordForRows(by: [MartletStorage.Dimension], answer: String) async throws {
        let store = try await ComparedStore(in: folder).storage
        let report = try await store.report(query(by: by), comparedWith: .previous)
        #expect(ReportTable.text(of: report).contains(answer))
    }

    @Test(
        arguments: [
            ("previous", "2026-11-21T09:00:00Z", "2026-11-21T09:30:00Z", "the 30 min before"),
            ("previous", "2026-11-20T09:00:00Z", "2026-11-21T09:00:00Z", "the day before"),
            ("day", "2026-11-20T09:00:00Z", "2026-11-20T10:00:00Z", "the hour a day earlier"),
            ("week", "2026-11-20T09:00:00Z", "2026-11-20T10:00:00Z", "the hour a week earlier"),
            ("2h", "2026-11-20T09:00:00Z", "2026-11-20T10:00:00Z", "the hour 2 h earlier"),
            ("version:1\u{1b}..2", "2026-11-20T09:00:00Z", "2026-11-20T10:00:00Z", "version 1\\u{1b}"),
        ])
    func otherSideHasAName(base: String, from: String, to: String, text: String) {
        let comparison = ReportComparison(
            base: base, from: from, to: to, pastHours: 0, goneCount: 0, gone: [])
        #expect(ComparisonBaseText.noun(comparison) == text)
    }
}
