import ArgumentParser
import MartletReports

struct ShowRequest: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Shows everything that is kept about a request, and the trace around it.")

    @OptionGroup var source: SourceOptions

    @Argument(help: "The request's id, as the list has it.")
    var id: String

    @OptionGroup var output: OutputOptions<RequestFormat>

    func run() async throws {
        let report = try await reportingFailure { try await fetch() }
        switch output.format {
        case .table: try Output.answer(RequestText.text(of: report, on: output.device))
        case .json: try Output.answer(ReportJSON.text(of: report))
        case .har: try Output.answer(ReportJSON.text(of: RequestHAR(report)))
        }
    }

    func validate() throws {
        if id.isEmpty { throw ValidationError("The id is empty; `requests` lists the ids.") }
    }

    private func fetch() async throws -> RequestReport {
        guard let store = try await source.openStore() else {
            return try await source.client().get("api/v1/requests/\(id)")
        }
        return try await RequestReport(id: id, in: store)
    }
}
