import ArgumentParser
import MartletReports
import MartletSQLiteStorage

struct Agents: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Lists the instances that send data: version, capture mode, time last seen, process, ledger.",
        discussion: """
            Shows at most the \(AgentsReport.maxAgents) instances that were seen most recently. TIME is RFC 3339, such as \
            2026-11-21T09:00:00Z, or a length of time ago, such as 90s, 30m, 1h or 7d.
            """)

    @OptionGroup var source: SourceOptions

    @Option(
        help: "TIME; instances that were last seen before it are left out. (default: \(AgentsParameter.defaultSince))")
    var since: String?

    @OptionGroup var output: OutputOptions<OutputFormat>

    func run() async throws {
        let report = try await reportingFailure { try await fetch() }
        let device = output.device
        // A file has the same text whenever it is written.
        let now = device.isTerminal ? SQLiteStorage.systemClock() : nil
        switch output.format {
        case .table: try Output.answer(AgentsTable.text(of: report, now: now, on: device))
        case .json: try Output.answer(ReportJSON.text(of: report))
        }
    }

    private func fetch() async throws -> AgentsReport {
        var parameters = AgentsParameters()
        parameters.add(.since, since)
        let since = try parameters.since(now: SQLiteStorage.systemClock())
        if let store = try await source.openStore() {
            return try await store.agentsReport(since: since, now: SQLiteStorage.systemClock())
        }
        return try await source.client().get("api/v1/agents", parameters.query)
    }
}
