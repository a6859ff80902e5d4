import MartletStorage
import MartletTelemetry

/// The facts that a table shows beside the figures of its report.
package struct ReportContext: Sendable {
    /// The flags that asked for the report and for its source, by their names without dashes. None of them is a secret.
    package var flags: [CommandFlag] = []
    /// The time at which the report is read; `nil` writes times in full, as a file keeps them.
    package var now: UnixNanoseconds?
    /// Whether the phases of requests have columns.
    package var showsPhases = false
    /// The figure whose column is marked as the one that the rows are sorted by.
    package var sortedBy: GroupOrder.Measure?
    /// The facts that explain a report without rows.
    package var history = EmptyAnswer.History.unknown
    /// The end of the latest interval before the window with requests that the filters select (``LatestRequest``); `nil` if nobody
    /// looked.
    package var latestRequest: UnixNanoseconds?
    /// The names that the store has: without rows for each filter that was given, and beside rows for each name that nobody has.
    package var names: [EmptyAnswer.Names] = []

    package init() {}

    /// Returns whether a filter selects only this value of a dimension.
    func isOnly(_ value: String, of dimension: Dimension) -> Bool {
        flags.filter { $0.name == dimension.rawValue }.map(\.value) == [value]
    }

    func flag(_ name: String) -> String? { flags.first { $0.name == name }?.value }
}
