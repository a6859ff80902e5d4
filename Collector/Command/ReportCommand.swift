import ArgumentParser
import MartletReports
import MartletSQLiteStorage

struct ReportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report",
        abstract: "Counts, failures and latency of requests.",
        discussion: "TIME is RFC 3339 or a length of time ago, such as 90s, 30m, 1h, 7d.")

    @OptionGroup var source: SourceOptions

    @Option(help: "TIME (default: \(ReportParameter.defaultSince))")
    var since: String?

    @Option(help: "TIME (default: now)")
    var until: String?

    @Option(help: "Requests of this service alone.")
    var service: String?

    @Option(help: "client or server")
    var kind: String?

    @Option(help: "The server's name, with the port or without it.")
    var host: String?

    @Option(help: "An endpoint by its template, such as /users/{id}.")
    var endpoint: String?

    @Option(help: "A status such as 404, or a class such as 5xx.")
    var status: String?

    @Option(help: "An error.type.")
    var error: String?

    @Option(help: "service, kind, method, host, endpoint, status, error, version, instance; may be repeated.")
    var by: [String] = []

    @Option(help: "impact, count, failures, failure-rate, p50, p95, p99, max (default: impact)")
    var sort: String?

    @Flag(help: "The smallest first.")
    var ascending = false

    @Option(help: "Rows at most.")
    var top: String?

    @Flag(help: "The means of the requests' phases, such as dns, connect and first byte.")
    var phases = false

    @Option(help: "table, json, csv or markdown; docs/reports.md describes each.")
    var format = ReportFormat.table

    @OptionGroup var color: ColorOption

    func run() async throws {
        let report = try await reportingFailure { try await fetch() }
        try Output.answer(try text(of: report))
    }

    private func text(of report: Report) throws -> String {
        var context = ReportContext()
        context.flags =
            parameters.values.map { name, value in
                CommandFlag(name.rawValue, name == .ascending ? nil : value)
            } + source.flags
        context.showsPhases = phases
        let device = color.device
        // A file has the same text whenever it is written.
        if device.isTerminal { context.now = SQLiteStorage.systemClock() }
        return switch format {
        case .table: ReportTable.text(of: report, context, on: device)
        case .json: try ReportJSON.text(of: report)
        case .csv: ReportCSV.text(of: report)
        case .markdown: ReportMarkdown.text(of: report, context)
        }
    }

    private func fetch() async throws -> Report {
        let parameters = parameters
        let request = try parameters.request(now: SQLiteStorage.systemClock())
        if let store = try source.openStore() {
            return Report(try await store.statistics(request.query), for: request)
        }
        return try await source.client().get("api/v1/report", parameters.values.map { ($0.name.rawValue, $0.value) })
    }

    private var parameters: ReportParameters {
        var parameters = ReportParameters()
        let given: [(ReportParameter, String?)] = [
            (.since, since), (.until, until), (.service, service), (.kind, kind), (.host, host), (.endpoint, endpoint),
            (.status, status), (.error, error), (.sort, sort), (.ascending, ascending ? "true" : nil), (.top, top),
        ]
        for (name, value) in given { parameters.add(name, value) }
        for dimension in by { parameters.add(.by, dimension) }
        return parameters
    }
}
