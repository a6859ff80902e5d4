/// The command that shows the requests behind a report.
enum NextCommand {
    /// The flags that arrange a report and select no request.
    private static let arranging: Set = ["by", "sort", "ascending", "top", "compare", "phases", "format", "color"]

    /// Returns the command with the report's own filters. If requests failed, it shows those of the endpoint with the most
    /// failures.
    static func text(for report: Report, _ context: ReportContext) -> String {
        var flags = selecting(context.flags)
        if let row = report.worstRow {
            if report.by.contains(.endpoint), context.flag("endpoint") == nil {
                flags.append(CommandFlag("endpoint", row.text(of: .endpoint)))
            }
            flags.append(CommandFlag("failed"))
        }
        return CommandText.text("requests", flags)
    }

    /// Returns the command that gives the same report later, as long as its points are kept as finely.
    static func again(_ report: Report, _ context: ReportContext) -> String {
        let window = [CommandFlag("since", report.from), CommandFlag("until", report.to)]
        return CommandText.text("report", window + context.flags.filter { !["since", "until"].contains($0.name) })
    }

    static func selecting(_ flags: [CommandFlag]) -> [CommandFlag] {
        flags.filter { !arranging.contains($0.name) }
    }
}
