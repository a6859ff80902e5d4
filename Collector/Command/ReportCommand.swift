import ArgumentParser
import MartletReports
import MartletSQLiteStorage

struct ReportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report",
        abstract: "Reports counts, failures and latency of requests.",
        discussion: TimeExpression.help)

    @OptionGroup var source: SourceOptions

    @OptionGroup var selection: SelectionOptions

    @Option(
        help: """
            Dimension to group by: service, environment, kind, method, host, endpoint, status, error, version or instance; \
            may be repeated. (default: service, kind, method, host, endpoint)
            """)
    var by: [String] = []

    @Option(help: "Figure to sort by: impact, count, failures, failure-rate, p50, p95, p99 or max. (default: impact)")
    var sort: String?

    @Flag(help: "Show the rows with the smallest figures first.")
    var ascending = false

    @Option(help: "The greatest number of rows to show. (default: all)")
    var top: String?

    @Option(
        help: """
            Tell which rows are worse than before: previous (the window of equal length before), day, week, a length of time \
            earlier such as 2h, or version:A..B.
            """)
    var compare: String?

    @Flag(help: "The means of the requests' phases, such as dns, connect and first byte.")
    var phases = false

    @Option(help: "table, json, csv or markdown; docs/reports.md describes each.")
    var format = ReportFormat.table

    @OptionGroup var color: ColorOption

    func run() async throws {
        let answer = try await reportingFailure {
            let report = try await source.report(parameters)
            return try text(of: report, try await context(of: report))
        }
        try Output.answer(answer)
    }

    private func context(of report: Report) async throws -> ReportContext {
        var context = ReportContext()
        context.flags =
            parameters.values.filter { $0.name != .step }.map { name, value in
                CommandFlag(name.rawValue, name == .ascending ? nil : value)
            } + source.flags
        context.showsPhases = phases
        // A file has the same text whenever it is written.
        if color.device.isTerminal { context.now = SQLiteStorage.systemClock() }
        if report.rows.isEmpty, [.table, .markdown].contains(format) {
            context.history = try await source.history()
            context.names = try await source.names(wanted: selection.given)
        }
        return context
    }

    private func text(of report: Report, _ context: ReportContext) throws -> String {
        let device = color.device
        return switch format {
        case .table: ReportTable.text(of: report, context, on: device)
        case .json: try ReportJSON.text(of: report)
        case .csv: ReportCSV.text(of: report)
        case .markdown: ReportMarkdown.text(of: report, context)
        }
    }

    /// The length of the slots of a trend, as a parameter has it; `nil` if the window cannot be read.
    private var trendStep: String? {
        var parameters = ReportParameters()
        selection.add(to: &parameters)
        let query = try? parameters.query(now: SQLiteStorage.systemClock())
        return query.map { "\(TrendStep.fitting($0.window, slots: 16) / 1_000_000_000)s" }
    }

    private var parameters: ReportParameters {
        var parameters = ReportParameters()
        selection.add(to: &parameters)
        for dimension in by { parameters.add(.by, dimension) }
        parameters.add(.sort, sort)
        parameters.add(.ascending, ascending ? "true" : nil)
        parameters.add(.top, top)
        parameters.add(.compare, compare)
        // Only a terminal's table shows the rows over time, which costs the collector another pass.
        if format == .table, color.device.isTerminal { parameters.add(.step, trendStep) }
        return parameters
    }
}
