import Fixtures
import Foundation
import MartletStorage
import MartletTelemetry
import Testing

@testable import MartletReports

/// Compares every output of a compared report with a file, as in ``GoldenTests``. All come from one store (``ComparedStore``).
@Suite struct ComparedGoldenTests {
    private let folder: TemporaryFolder
    private let report: Report
    private var context = ReportContext()

    init() async throws {
        folder = try TemporaryFolder()
        let store = try await ComparedStore(in: folder)
        let query = StatisticsQuery(window: ComparedStore.window, by: ReportParameter.defaultBy)
        report = try await store.storage.report(query, comparedWith: .previous)
        context.flags = [CommandFlag("since", "1h"), CommandFlag("compare", "previous")]
    }

    @Test func terminalShowsSignsAndALineForEachChange() throws {
        var context = context
        context.now = ComparedStore.window.to + 2_000_000_000
        for (isColored, file) in [(false, "compared-120.txt"), (true, "compared-120-color.txt")] {
            let device = OutputDevice(columns: 120, isColored: isColored)
            try expect(ReportTable.text(of: report, context, on: device), in: file)
        }
    }

    @Test func fileHasAColumnOfVerdicts() throws {
        try expect(ReportTable.text(of: report, context), in: "compared-file.txt")
    }

    @Test func programsGetAFixedFormat() throws {
        try expect(ReportCSV.text(of: report), in: "compared.csv")
        try expect(ReportMarkdown.text(of: report, context), in: "compared.md")
        try expect(try ReportJSON.text(of: report), in: "compared.json")
    }

    @Test func jsonDecodesToTheSameReport() throws {
        let json = try ReportJSON.text(of: report)
        #expect(try ReportJSON.value(of: Report.self, in: Data(json.utf8)) == report)
    }
}
