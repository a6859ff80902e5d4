import Fixtures
import MartletStorage
import Testing

@testable import MartletPage
@testable import MartletReports

/// Every form of a report takes its figures from one list.
@Suite struct FigureTests {
    private let measures = SampleReport.report.rows[0].measures
    private let titled = ReportFigure.all.filter { !$0.title.isEmpty }

    @Test func csvHasEveryFigure() {
        let lines = ReportCSV.text(of: SampleReport.report).split(separator: "\r\n")
        let cells = lines.prefix(2).map {
            $0.split(separator: ",", omittingEmptySubsequences: false).suffix(ReportFigure.all.count).map(String.init)
        }
        #expect(cells == [ReportFigure.all.map(\.key), ReportFigure.all.map { $0.csv(measures) }])
    }

    @Test func tableAndMarkdownHaveEveryFigureWithATitle() throws {
        var context = SampleReport.context
        context.showsPhases = true
        let table = ReportTable.text(of: SampleReport.report, context).split(separator: "\n")
        let first = try #require(table.firstIndex { $0.contains("impact %") })
        #expect(
            table[first].split(separator: " ").joined(separator: " ").hasSuffix(
                titled.map(\.title).joined(separator: " ")))
        #expect(
            table[first + 1].split(separator: " ").suffix(titled.count).map(String.init)
                == titled.map { $0.text(measures) })
        let markdown = ReportMarkdown.text(of: SampleReport.report, context)
        #expect(markdown.contains(" | " + titled.map(\.title).joined(separator: " | ") + " |\n"))
        let cells = titled.map { MarkdownText.escaped($0.text(measures)) }
        #expect(markdown.contains(" | " + cells.joined(separator: " | ") + " |\n"))
    }

    @Test func terminalNamesEveryFigureWithATitle() {
        let text = ReportTable.text(of: SampleReport.report, SampleReport.context, on: OutputDevice(columns: 400))
        let phases = ReportFigure.phases.map(\.key)
        for figure in titled where !phases.contains(figure.key) {
            #expect(text.contains(figure.title), "\(figure.key)")
        }
    }

    @Test func pageHasATitleAndACellForEveryFigureOfAnEndpoint() async throws {
        let window = [
            ("since", TimeText.format(ComparedStore.window.from)), ("until", TimeText.format(ComparedStore.window.to)),
        ]
        let pageRequest = try PageRequest(.overview, window, now: ComparedStore.window.to)
        let folder = try TemporaryFolder()
        let store = try await ComparedStore(in: folder)
        let overview = try await Overview(pageRequest, in: store.storage)
        let markup = String(decoding: EndpointsTable(overview: overview).html.bytes, as: UTF8.self)
        for figure in ReportFigure.onPage {
            #expect(markup.contains(">\(figure.heading)<"), "\(figure.key)")
            let cells =
                markup.split(separator: "data-label=\"\(figure.title)\"", omittingEmptySubsequences: false).count - 1
            #expect(cells == overview.endpoints.rows.count + 1, "\(figure.key)")
        }
    }
}
