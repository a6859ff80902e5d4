import ArgumentParser
import MartletReports
import MartletStorage

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
