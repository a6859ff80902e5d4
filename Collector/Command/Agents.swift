import ArgumentParser
import Foundation
import MartletReports
import MartletStorage

struct Agents: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Lists the instances that send data: version, capture mode, last seen, process, ledger.",
        discussion: """
            Shows at most the \(AgentsReport.maxAgents) instances that were seen most recently. \(TimeExpression.help)
            """)

    @OptionGroup var source: SourceOptions

    @Option(
        help: "TIME; leaves out instances that were last seen before it. (default: \(AgentsParameter.defaultSince))")
    var since: String?

    @OptionGroup var instances: SenderFilters<FilteredInstances>

    @OptionGroup var output: OutputOptions<OutputFormat>

    func run() async throws {
        let report = try await reportingFailure { try await source.agents(parameters) }
        if report.agents.isEmpty, output.format == .table {
            return try Output.answer(AgentsTable.nothing(in: report, try senders.commandFlags, of: source.flags))
        }
        let device = output.device
        switch output.format {
        case .table: try Output.answer(AgentsTable.text(of: report, now: device.now, on: device))
        case .json: try Output.answer(ReportJSON.text(of: report))
        }
    }

    private var parameters: AgentsParameters {
        get throws {
            var parameters = try senders
            let zone = UTCOffset.environment(ProcessInfo.processInfo.environment)
            parameters.add(
                .since, since.map { TimeExpression.absolute($0, now: SystemClock.now(), in: zone) })
            return parameters
        }
    }

    /// The filters.
    private var senders: AgentsParameters {
        get throws {
            var parameters = AgentsParameters()
            try parameters.add(instances.filters)
            return parameters
        }
    }
}
