import ArgumentParser
import MartletReports

struct MapCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "map",
        abstract: "Reports who calls whom, counted by both sides, and the requests that were lost.",
        discussion: TimeExpression.help)

    @OptionGroup var source: SourceOptions

    @OptionGroup var window: WindowOptions

    @OptionGroup var services: ServiceFilters<FilteredEdges>

    @Option(
        help:
            "Maximum number of edges to show: first those with lost requests, then those with the most requests. (default: all)"
    )
    var top: String?

    @OptionGroup var output: OutputOptions<ListFormat>

    func run() async throws {
        let answer = try await reportingFailure {
            let report = try await source.map(parameters)
            return try text(of: report)
        }
        try Output.answer(answer)
    }

    private func text(of report: MapReport) throws -> String {
        switch output.format {
        case .table:
            let context = ReportContext(try parameters.commandFlags + source.flags, on: output.device)
            return MapTable.text(of: report, context, on: output.device)
        case .json: return try ReportJSON.text(of: report)
        case .csv: return MapCSV.text(of: report)
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
