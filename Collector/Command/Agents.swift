import ArgumentParser
import MartletReports

struct Agents: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Who sends: instances, when they were last seen, versions, capture mode, ledger.")

    @OptionGroup var source: SourceOptions

    @Option(help: "table or json")
    var format = OutputFormat.table

    func run() async throws {
        let report = try await reportingFailure { try await fetch() }
        switch format {
        case .table: Output.text(AgentsTable.text(of: report))
        case .json: Output.text(try ReportJSON.text(of: report))
        }
    }

    private func fetch() async throws -> AgentsReport {
        if let store = try source.openStore() { return AgentsReport(try await store.agents()) }
        return try await source.client().get("api/v1/agents")
    }
}
