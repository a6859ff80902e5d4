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

    @OptionGroup var selection: SelectionOptions

    @Option(
        help: """
            Dimension to group by: service, environment, kind, method, host, endpoint, status, error, version or instance; \
            may be repeated. (default: service, kind, method, host, endpoint)
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
        let query = try parameters.query(now: SQLiteStorage.systemClock())
        if let store = try source.openStore() {
            return Report(try await store.statistics(query), for: query)
        }
        return try await source.client().get("api/v1/report", parameters.query)
    }

    private var parameters: ReportParameters {
        var parameters = ReportParameters()
        selection.add(to: &parameters)
        for dimension in by { parameters.add(.by, dimension) }
        parameters.add(.sort, sort)
        parameters.add(.ascending, ascending ? "true" : nil)
        parameters.add(.top, top)
        return parameters
    }
}
