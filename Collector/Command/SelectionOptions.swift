import ArgumentParser
import Foundation
import MartletReports
import MartletSQLiteStorage
import MartletStorage

/// The window and the filters of a command. A filter that is given twice selects either.
struct SelectionOptions: ParsableArguments {
    @OptionGroup var window: WindowOptions

    @Option(help: "Only requests of this service.")
    var service: [String] = []

    @Option(help: "Only requests of services in this environment, such as production.")
    var environment: [String] = []

    @Option(
        help: "Only requests of this kind: client (the service sends them) or server (it answers them).",
        completion: .list(["client", "server"]))
    var kind: [String] = []

    @Option(help: "Only requests with this method, such as POST.")
    var method: [String] = []

    @Option(help: "Only requests to this server, by its name with or without the port.")
    var host: [String] = []

    @Option(help: "Only requests of this endpoint, by its template, such as /users/{id}.")
    var endpoint: [String] = []

    @Option(help: "Only requests with this status, such as 404, or class of statuses, such as 5xx.")
    var status: [String] = []

    @Option(help: "Only requests with this error.type, such as timeout.")
    var error: [String] = []

    @Option(help: "Only requests that this rule of their service's agent changed, by its name.")
    var rule: [String] = []

    @Option(help: "Only requests of this version of a service.")
    var version: [String] = []

    @Option(help: "Only requests of this instance of a service.")
    var instance: [String] = []

    /// Adds the flags that were given.
    ///
    /// - Parameter others: dimensions whose flags are left out.
    func add<Name: WindowParameterName>(
        to parameters: inout Parameters<Name>, without others: Set<MartletStorage.Dimension> = []
    ) {
        window.add(to: &parameters)
        for dimension in MartletStorage.Dimension.allCases where !others.contains(dimension) {
            parameters.add(wanted(dimension).map { (dimension, $0) })
        }
    }

    /// The length of the slots of a trend over the window, as a parameter has it; `nil` if the window cannot be read.
    var trendStep: String? {
        var parameters = ReportParameters()
        add(to: &parameters)
        let query = try? parameters.query(now: SQLiteStorage.systemClock())
        return query.map { "\(TrendStep.fitting($0.window, slots: 16) / 1_000_000_000)s" }
    }

    private func wanted(_ dimension: MartletStorage.Dimension) -> [String] {
        switch dimension {
        case .service: service
        case .environment: environment
        case .kind: kind
        case .method: method
        case .host: host
        case .endpoint: endpoint
        case .status: status
        case .error: error
        case .rule: rule
        case .version: version
        case .instance: instance
        }
    }
}

extension ReportParameters {
    /// The parameters as flags for a person to copy.
    var flags: [CommandFlag] {
        commandFlags.filter { $0.name != ReportParameter.step.rawValue }
    }
}

/// The window of a command.
struct WindowOptions: ParsableArguments {
    @Option(
        help: "TIME at which the window begins. (default: \(ReportParameter.defaultSince), or that long before --until)"
    )
    var since: String?

    @Option(help: "TIME at which the window ends. (default: now)")
    var until: String?

    /// Adds the flags that were given. A day or a time of day is one of the zone of this process, and becomes RFC 3339 for the
    /// collector.
    func add<Name: WindowParameterName>(to parameters: inout Parameters<Name>) {
        let (now, zone) = (SQLiteStorage.systemClock(), UTCOffset.environment(ProcessInfo.processInfo.environment))
        let since = since.map { TimeExpression.absolute($0, now: now, in: zone) }
        let from = since.flatMap { TimeText.parse($0, now: now) }
        parameters.add(.since, since)
        parameters.add(.until, until.map { TimeExpression.absolute($0, now: now, after: from, in: zone) })
    }
}

/// The dimensions that a report groups requests by, and the order of the groups.
struct GroupingOptions: ParsableArguments {
    @Option(
        help: """
            Dimension to group by: service, environment, kind, method, host, endpoint, status, error, rule, version or \
            instance; may be repeated. (default: service, kind, method, host, endpoint)
            """,
        completion: .list(MartletStorage.Dimension.allCases.map(\.rawValue)))
    var by: [String] = []

    @Option(
        help: "Figure to sort by: impact, count, failures, failure-rate, p50, p95, p99 or max. (default: impact)",
        completion: .list(GroupOrder.Measure.allCases.map(\.rawValue)))
    var sort: String?

    /// Adds the flags that were given.
    func add(to parameters: inout ReportParameters) {
        for dimension in by { parameters.add(.by, dimension) }
        parameters.add(.sort, sort)
    }
}
