import ArgumentParser
import Foundation
import MartletReports
import MartletSQLiteStorage

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
