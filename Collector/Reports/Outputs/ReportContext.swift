import MartletStorage
import MartletTelemetry

/// The data that a table needs in addition to its report.
package struct ReportContext: Sendable {
    /// The flags of the report and of its source, by their names without dashes. None of them is a secret.
    package var flags: [CommandFlag] = []
    /// The time at which the report is read; `nil` writes times in full, as in a file.
    package var now: UnixNanoseconds?
    /// Whether the phases of requests get columns.
    package var showsPhases = false
    /// The figure that the rows are sorted by; its column is marked.
    package var sortedBy: GroupOrder.Measure?
    /// The findings of the report's window.
    package var findings = FindingLines()

    package init() {}

    /// Returns whether a filter selects only this value of a dimension.
    func isOnly(_ value: String, of dimension: Dimension) -> Bool {
        flags.filter { $0.name == dimension.rawValue }.map(\.value) == [value]
    }

    func flag(_ name: String) -> String? { flags.first { $0.name == name }?.value }
}

/// The command that shows the requests behind a report.
package enum NextCommand {
    /// The flags that arrange a report but do not select requests.
    private static let arranging: Set = ["by", "sort", "ascending", "top", "compare", "phases", "format", "color"]

    /// Returns the command with the report's filters. If requests failed, it shows those of the row with the most failures.
    static func text(for report: Report, _ context: ReportContext) -> String {
        var flags = selecting(context.flags)
        if let versions = ComparisonBase.versions(in: context.flag("compare")) {
            flags.append(CommandFlag("version", versions.after))
        }
        if let row = report.worstRow {
            // If some rows are unknown, the name may not distinguish this row from them, so all dimensions are used.
            let dimensions = report.isCut ? report.by : RowName(of: report.rows, by: report.by).dimensions(of: row)
            for dimension in dimensions where context.flag(dimension.rawValue) == nil {
                // An empty value selects requests without one.
                flags.append(CommandFlag(dimension.rawValue, row.text(of: dimension)))
            }
            flags.append(CommandFlag("failed"))
        }
        return CommandText.text("requests", flags)
    }

    /// Returns a line with a command that gives the same report later, as long as its points are kept at the same resolution.
    ///
    /// - Parameter flags: the flags of the report and of its source.
    package static func again(_ report: Report, _ flags: [CommandFlag], on device: OutputDevice) -> String {
        let window = [CommandFlag("since", report.from), CommandFlag("until", report.to)]
        let command = CommandText.text("report", window + flags.filter { !["since", "until"].contains($0.name) })
        return device.paint("Again:", .dim) + "     " + command + "\n"
    }

    /// Returns the flags that say where the requests are kept.
    static func ofSource(_ flags: [CommandFlag]) -> [CommandFlag] {
        let names: Set = ["collector", "store", "certificate", "client-certificate", "client-key"]
        return flags.filter { names.contains($0.name) }
    }

    static func selecting(_ flags: [CommandFlag]) -> [CommandFlag] {
        flags.filter { !arranging.contains($0.name) }
    }
}
