import ArgumentParser
import Foundation
import MartletReports
import MartletSQLiteStorage

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

    @Option(help: "Only instances of this service.")
    var service: [String] = []

    @Option(help: "Only instances in this environment, such as production.")
    var environment: [String] = []

    @Option(help: "Only instances of this version of a service.")
    var version: [String] = []

    @Option(help: "Only this instance.")
    var instance: [String] = []

    @OptionGroup var output: OutputOptions<OutputFormat>

    func run() async throws {
        let report = try await reportingFailure { try await source.agents(parameters) }
        if report.agents.isEmpty, output.format == .table {
            return try Output.answer(AgentsTable.nothing(in: report, senders.commandFlags, of: source.flags))
        }
        let device = output.device
        // A file has the same text whenever it is written.
        let now = device.isTerminal ? SQLiteStorage.systemClock() : nil
        switch output.format {
        case .table: try Output.answer(AgentsTable.text(of: report, now: now, on: device))
        case .json: try Output.answer(ReportJSON.text(of: report))
        }
    }

    private var parameters: AgentsParameters {
        var parameters = senders
        let zone = UTCOffset.environment(ProcessInfo.processInfo.environment)
        parameters.add(.since, since.map { TimeExpression.absolute($0, now: SQLiteStorage.systemClock(), in: zone) })
        return parameters
    }

    /// The filters.
    private var senders: AgentsParameters {
        var parameters = AgentsParameters()
        for value in service { parameters.add(.service, value) }
        for value in environment { parameters.add(.environment, value) }
        for value in version { parameters.add(.version, value) }
        for value in instance { parameters.add(.instance, value) }
        return parameters
    }
}
