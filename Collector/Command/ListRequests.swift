import ArgumentParser
import MartletReports
import MartletSQLiteStorage
import MartletStorage

struct ListRequests: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Lists kept requests.",
        discussion: TimeExpression.help)

    @OptionGroup var source: SourceOptions

    @OptionGroup var selection: SelectionOptions

    @Flag(help: "Only requests that failed.")
    var failed = false

    @Option(help: "Only requests that took longer than this, such as 500ms or 1.5s.")
    var slowerThan: String?

    @Option(help: "Only requests that took less time than this, such as 500ms or 1.5s.")
    var fasterThan: String?

    @Option(help: "Only requests with this text in their address, error, headers, bodies or another kept field.")
    var search: String?

    @Option(help: "Figure to sort by: time or duration. (default: time)")
    var sort: String?

    @Flag(help: "Show the earliest, or the fastest, first.")
    var ascending = false

    @Option(help: "The id of a request of an earlier list; shows the requests that follow it there.")
    var before: String?

    @Option(help: "The greatest number of requests to show, up to 1000. (default: \(RequestsParameter.defaultLimit))")
    var limit: String?

    @OptionGroup var output: OutputOptions<ReportFormat>

    func run() async throws {
        let report = try await reportingFailure { try await source.requests(parameters) }
        if report.requests.isEmpty, [.table, .markdown].contains(output.format) {
            return try Output.answer(try await reportingFailure { try await explanation(of: report) })
        }
        switch output.format {
        case .table: try Output.answer(RequestsTable.text(of: report, from: source.flags, on: output.device))
        case .json: try Output.answer(ReportJSON.text(of: report))
        case .csv: try Output.answer(RequestsCSV.text(of: report))
        case .markdown: try Output.answer(RequestsMarkdown.text(of: report))
        }
    }

    /// Returns why the list has no requests.
    private func explanation(of list: RequestsReport) async throws -> String {
        var counting = ReportParameters()
        selection.add(to: &counting)
        counting.add(.by, MartletStorage.Dimension.kind.rawValue)
        let counted = try await source.report(counting)
        var context = ReportContext()
        context.flags = parameters.commandFlags + source.flags
        if output.device.isTerminal { context.now = SQLiteStorage.systemClock() }
        if counted.rows.isEmpty {
            try await source.explain(counted, &context, selection.filters(), names: selection.given())
        }
        let query = try parameters.query(now: SQLiteStorage.systemClock())
        let explanation = EmptyRequests(list, query, counted: counted, context)
        return output.format == .markdown ? explanation.markdown : explanation.text
    }

    private var parameters: RequestsParameters {
        var parameters = RequestsParameters()
        selection.add(to: &parameters)
        parameters.add(.failed, failed ? "true" : nil)
        parameters.add(.slowerThan, slowerThan)
        parameters.add(.fasterThan, fasterThan)
        parameters.add(.search, search)
        parameters.add(.sort, sort)
        parameters.add(.ascending, ascending ? "true" : nil)
        parameters.add(.before, before)
        parameters.add(.limit, limit)
        return parameters
    }
}
