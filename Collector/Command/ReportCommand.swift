import ArgumentParser
import MartletReports
import MartletSQLiteStorage

struct ReportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report",
        abstract: "Reports counts, failures and latency of requests.",
        discussion: """
            TIME is RFC 3339, such as 2026-11-21T09:00:00Z, or a length of time ago, such as 90s, 30m, 1h or 7d.
            """)

    @OptionGroup var source: SourceOptions

    @Option(help: "TIME at which the report begins. (default: \(ReportParameter.defaultSince))")
    var since: String?

    @Option(help: "TIME at which the report ends. (default: now)")
    var until: String?

    @Option(help: "Only requests of this service.")
    var service: String?

    @Option(help: "Only requests of this kind: client (the service sends them) or server (it answers them).")
    var kind: String?

    @Option(help: "Only requests to this server, by its name with or without the port.")
    var host: String?

    @Option(help: "Only requests of this endpoint, by its template, such as /users/{id}.")
    var endpoint: String?

    @Option(help: "Only requests with this status, such as 404, or class of statuses, such as 5xx.")
    var status: String?

    @Option(help: "Only requests with this error.type, such as timeout.")
    var error: String?

    @Option(
        help: """
            Dimension to group by: service, kind, method, host, endpoint, status, error, version or instance; may be \
            repeated. (default: service, kind, method, host, endpoint)
            """)
    var by: [String] = []

    @Option(help: "Figure to sort by: impact, count, failures, failure-rate, p50, p95, p99 or max. (default: impact)")
    var sort: String?

    @Flag(help: "Show the rows with the smallest figures first.")
    var ascending = false

    @Option(help: "The greatest number of rows to show. (default: all)")
    var top: String?

    @Option(help: "table or json")
    var format = OutputFormat.table

    func run() async throws {
        let report = try await reportingFailure { try await fetch() }
        switch format {
        case .table: try Output.answer(ReportTable.text(of: report))
        case .json: try Output.answer(ReportJSON.text(of: report))
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
