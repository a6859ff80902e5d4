import ArgumentParser
import MartletReports

struct ReportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report",
        abstract: "Reports counts, failures and latency of requests.",
        discussion: TimeExpression.help)

    @OptionGroup var source: SourceOptions

    @OptionGroup var selection: SelectionOptions

    @OptionGroup var grouping: GroupingOptions

    @Flag(help: "Show the rows with the smallest figures first.")
    var ascending = false

    @Option(help: "Maximum number of rows to show. (default: all)")
    var top: String?

    @Option(
        help: """
            Show which rows are worse, compared with: previous (the window before), day, week, a length of time earlier such \
            as 2h, or version:A..B.
            """,
        completion: .list(ComparisonBase.words))
    var compare: String?

    @Flag(help: "Show the mean time of each phase, such as dns, connect and first byte.")
    var phases = false

    @OptionGroup var output: OutputOptions<ReportFormat>

    func run() async throws {
        let answer = try await reportingFailure {
            let report = try await source.report(parameters)
            return try text(of: report, try await findings)
        }
        try Output.answer(answer)
    }

    /// The findings, for a person. The formats for programs have only the report.
    private var findings: FindingLines {
        get async throws {
            switch output.format {
            case .table, .markdown:
                try await SelectedFindings(source: source, selection: selection, compare: compare).lines
            case .json, .csv: FindingLines()
            }
        }
    }

    private func context(_ findings: FindingLines) -> ReportContext {
        let flags = parameters.flags + (phases ? [CommandFlag("phases")] : []) + source.flags
        var context = ReportContext(flags, on: output.device)
        context.showsPhases = phases
        context.findings = findings
        return context
    }

    private func text(of report: Report, _ findings: FindingLines) throws -> String {
        let (device, context) = (output.device, context(findings))
        return switch output.format {
        case .table: ReportTable.text(of: report, context, on: device)
        case .json: try ReportJSON.text(of: report)
        case .csv: ReportCSV.text(of: report)
        case .markdown: ReportMarkdown.text(of: report, context)
        }
    }

    private var parameters: ReportParameters {
        var parameters = ReportParameters()
        selection.add(to: &parameters)
        grouping.add(to: &parameters)
        parameters.add(.ascending, ascending ? "true" : nil)
        parameters.add(.top, top)
        parameters.add(.compare, compare)
        // Only a terminal's table shows the rows over time, which costs the collector another pass.
        if output.format == .table, output.device.isTerminal { parameters.add(.step, selection.trendStep) }
        return parameters
    }
}
