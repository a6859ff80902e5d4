import ArgumentParser
import MartletFindings
import MartletReports
import MartletStorage

struct FindingsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "findings",
        abstract: "Lists what happened: failures, slowness, silence and more, the most expensive first.",
        discussion: """
            Judges HTTP requests and processes. Findings are kept for 30 days. With --store, the three hours before the end of \
            the window are judged again. \
            \(TimeExpression.help)
            """)

    @OptionGroup var source: SourceOptions

    @OptionGroup var window: WindowOptions

    @Option(
        help: ArgumentHelp("Only findings of this kind: \(Self.kinds.joined(separator: ", ")); may be repeated."),
        completion: .list(Self.kinds))
    var kind: [String] = []

    @OptionGroup var findings: FindingFilters

    @OptionGroup var output: OutputOptions<OutputFormat>

    static let kinds = FindingKind.allCases.map(\.rawValue)

    func run() async throws {
        let report = try await reportingFailure { try await source.findings(parameters) }
        switch output.format {
        case .table: try Output.answer(FindingsText.text(of: report, source.flags, on: output.device))
        case .json: try Output.answer(ReportJSON.text(of: report))
        }
    }

    private var parameters: FindingsParameters {
        get throws {
            var parameters = FindingsParameters()
            window.add(to: &parameters)
            for kind in kind { parameters.add(.kind, kind) }
            try parameters.add(findings.filters)
            return parameters
        }
    }
}
