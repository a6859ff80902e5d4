import ArgumentParser
import MartletReports

struct ShowRequest: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Shows everything that is kept about a request, and the trace around it.")

    @OptionGroup var source: SourceOptions

    @Argument(help: "The request's id, as the list has it.")
    var id: String

    @Option(help: "table or json")
    var format = OutputFormat.table

    func run() async throws {
        let report = try await reportingFailure { try await fetch() }
        switch format {
        case .table: try Output.answer(RequestText.text(of: report))
        case .json: try Output.answer(ReportJSON.text(of: report))
        }
    }

    private func fetch() async throws -> RequestReport {
        guard let store = try source.openStore() else {
            return try await source.client().get("api/v1/requests/\(id)")
        }
        return try await RequestReport(id: id, in: store)
    }
}
