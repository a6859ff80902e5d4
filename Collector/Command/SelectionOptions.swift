import ArgumentParser
import Foundation
import MartletReports
import MartletStorage

/// The window and the filters of a command about requests.
struct SelectionOptions: ParsableArguments {
    @OptionGroup var window: WindowOptions

    @OptionGroup var requests: RequestFilters

    /// Adds the flags that the user gave.
    ///
    /// - Parameter others: dimensions whose flags are left out.
    func add<Name: RequestParameterName>(
        to parameters: inout Parameters<Name>, without others: Set<MartletStorage.Dimension> = []
    ) {
        window.add(to: &parameters)
        parameters.add(requests.filters.filter { !others.contains($0.dimension) })
    }

    /// The length of a trend's slots for the window, as a parameter. `nil` if the window cannot be parsed.
    var trendStep: String? {
        var parameters = ReportParameters()
        add(to: &parameters)
        let query = try? parameters.query(now: SystemClock.now())
        return query.map { "\(TrendStep.fitting($0.window, slots: 16) / 1_000_000_000)s" }
    }
}

extension ReportParameters {
    /// The parameters as flags for a user to copy.
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

    /// Adds the flags that the user gave. Reads a day or a time of day in this process's time zone, and passes it to the
    /// collector in RFC 3339.
    func add<Name: WindowParameterName>(to parameters: inout Parameters<Name>) {
        let (now, zone) = (SystemClock.now(), UTCOffset.environment(ProcessInfo.processInfo.environment))
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
            Dimension to group by: \(Self.names(MartletStorage.Dimension.allCases)); may be repeated. (default: \
            \(Self.names(ReportParameter.defaultBy)))
            """,
        completion: .list(MartletStorage.Dimension.allCases.map(\.rawValue)))
    var by: [String] = []

    @Option(
        help: "Figure to sort by: impact, count, failures, failure-rate, p50, p95, p99 or max. (default: impact)",
        completion: .list(GroupOrder.Measure.allCases.map(\.rawValue)))
    var sort: String?

    private static func names(_ dimensions: [MartletStorage.Dimension]) -> String {
        dimensions.map(\.rawValue).joined(separator: ", ")
    }

    /// Adds the flags that the user gave.
    func add(to parameters: inout ReportParameters) {
        for dimension in by { parameters.add(.by, dimension) }
        parameters.add(.sort, sort)
    }
}
