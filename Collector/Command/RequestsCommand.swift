import ArgumentParser
import MartletReports
import MartletStorage

struct RequestsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "requests",
        abstract: "Lists, shows and deletes the requests whose details are kept.",
        discussion: """
            Without a subcommand it lists them. `martlet-collector requests list --help` explains the flags of the list, such \
            as --failed and --search.
            """,
        subcommands: [ListRequests.self, ShowRequest.self, ClearRequests.self],
        defaultSubcommand: ListRequests.self)
}

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

    @Option(help: "The id of a request in an earlier list; shows the requests that follow it.")
    var before: String?

    @Option(help: "Maximum number of requests to show, up to 1000. (default: \(RequestsParameter.defaultLimit))")
    var limit: String?

    @OptionGroup var output: OutputOptions<ListFormat>

    func run() async throws {
        let report = try await reportingFailure { try await source.requests(parameters) }
        if report.requests.isEmpty, output.format == .table {
            return try Output.answer(try await reportingFailure { try await explanation(of: report) })
        }
        switch output.format {
        case .table: try Output.answer(RequestsTable.text(of: report, from: source.flags, on: output.device))
        case .json: try Output.answer(ReportJSON.text(of: report))
        case .csv: try Output.answer(RequestsCSV.text(of: report))
        }
    }

    /// Returns the reason why the list has no requests.
    private func explanation(of list: RequestsReport) async throws -> String {
        var counting = ReportParameters()
        selection.add(to: &counting)
        counting.add(.by, MartletStorage.Dimension.kind.rawValue)
        let counted = try await source.report(counting)
        let context = ReportContext(parameters.commandFlags + source.flags, on: output.device)
        let query = try parameters.query(now: SystemClock.now())
        return EmptyRequests(list, query, counted: counted, context).text
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

struct ShowRequest: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Shows everything that is kept about a request, and the trace around it.")

    @OptionGroup var source: SourceOptions

    @Argument(help: "The request's id, from the list.")
    var id: String

    @Flag(help: "Show each span of the trace on a separate line, also equal ones.")
    var allSpans = false

    @OptionGroup var output: OutputOptions<OutputFormat>

    func run() async throws {
        let report = try await reportingFailure {
            try await source.answer("requests/\(id)") { try await RequestReport(id: id, in: $0) }
        }
        switch output.format {
        case .table: try Output.answer(RequestText.text(of: report, allSpans: allSpans, on: output.device))
        case .json: try Output.answer(ReportJSON.text(of: report))
        }
    }

    func validate() throws {
        if id.isEmpty { throw ValidationError("The id is empty; `requests` lists the ids.") }
    }
}

struct ClearRequests: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clear",
        abstract: "Deletes all kept requests and spans of the collector, but not the counts.")

    @OptionGroup var source: ClientOptions

    @Flag(help: "Delete without asking.")
    var yes = false

    func run() async throws {
        guard try yes || isConfirmed() else { return Output.line("Nothing was deleted.") }
        let removal: RemovalReport = try await reportingFailure { try await source.client().delete("api/v1/requests") }
        Output.line("deleted \(removal.removed) kept requests and spans")
    }

    /// Asks the user at the terminal. Without an answer the command fails: a script's standard input may be closed.
    private func isConfirmed() throws -> Bool {
        Output.line("This deletes all kept requests and spans at \(source.collector). Type yes to continue:")
        guard let answer = readLine() else {
            Output.error("nothing was deleted, because there was no answer; --yes deletes without asking")
            throw ExitCode.failure
        }
        return answer == "yes"
    }
}
