import ArgumentParser
import MartletReports
import MartletSQLiteStorage
import MartletStorage

struct MapCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "map",
        abstract: "Reports who calls whom, as both ends counted, and the requests that were lost between them.",
        discussion: TimeExpression.help)

    @OptionGroup var source: SourceOptions

    @OptionGroup var window: WindowOptions

    @OptionGroup var services: ServiceFilters<FilteredEdges>

    @Option(
        help:
            "The greatest number of edges to show: those with lost requests, then those with the most requests. (default: all)"
    )
    var top: String?

    @OptionGroup var output: OutputOptions<ReportFormat>

    func run() async throws {
        let answer = try await reportingFailure {
            let report = try await source.map(parameters)
            return try text(of: report, try await context(of: report))
        }
        try Output.answer(answer)
    }

    private func context(of report: MapReport) async throws -> ReportContext {
        var context = ReportContext()
        context.flags = try parameters.commandFlags + source.flags
        // A file has the same text whenever it is written.
        if output.device.isTerminal { context.now = SQLiteStorage.systemClock() }
        if report.edges.isEmpty, [.table, .markdown].contains(output.format) {
            try await source.explain(report, &context, services.filters, names: services.filters)
        }
        return context
    }

    private func text(of report: MapReport, _ context: ReportContext) throws -> String {
        switch output.format {
        case .table: MapTable.text(of: report, context, on: output.device)
        case .json: try ReportJSON.text(of: report)
        case .csv: MapCSV.text(of: report)
        case .markdown: MapMarkdown.text(of: report, context)
        }
    }

    private var parameters: MapParameters {
        get throws {
            var parameters = MapParameters()
            window.add(to: &parameters)
            try parameters.add(services.filters)
            parameters.add(.top, top)
            return parameters
        }
    }
}
