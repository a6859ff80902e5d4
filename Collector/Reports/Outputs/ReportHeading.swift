import MartletStorage

/// The lines above a table: the answer in a sentence, the window and its data, the gaps in the figures, and the requests that
/// rules changed.
struct ReportHeading {
    private let report: Report
    private let context: ReportContext
    private let device: OutputDevice
    private let totals: [KindTotal]

    init(_ table: ReportTable) {
        (report, context, device, totals) = (table.report, table.context, table.device, table.totals)
    }

    var lines: [String] {
        HeadingLine(report: report, context: context, device: device).lines(answer) + notes
    }

    // MARK: The answer

    private var answer: String? {
        if let comparison = ComparisonText(report) { return comparison.answer }
        guard report.totals.measures.count > 0 else { return nil }
        let shares = totals.map(share).joined(separator: " and ")
        let answer = shares.prefix(1).uppercased() + shares.dropFirst() + " failed"
        return answer + worst(after: answer) + "."
    }

    /// The failed requests of a kind: `418 of 4,200 requests`, or `10 of 400 made` and `5 of 50 served requests` beside another.
    private func share(_ total: KindTotal) -> String {
        let (failed, count) = (total.measures.failures.count, total.measures.count)
        let share = (failed == 0 ? "none" : FigureText.grouped(failed)) + " of "
        guard totals.count > 1 else { return share + FigureText.counted(count, "request") }
        let isLast = total.kind == totals.last?.kind
        return share + "\(FigureText.grouped(count)) \(KindTotal.title(total.kind).lowercased())"
            + (isLast ? " requests" : "")
    }

    /// Characters of the name at least; a sentence with less room for it ends before.
    private static let shortestName = 12

    /// Returns the row with the most failures, where all rows are known and there are several. Rows by kind alone are the totals
    /// that the sentence already has. Its name is cut to the room that is left on a line of the terminal.
    private func worst(after answer: String) -> String {
        guard !report.isCut, report.rows.count > 1, report.by != [.kind], let row = report.worstRow else { return "" }
        let start = ", \(FigureText.grouped(row.measures.failures.count)) of them in "
        let name = TerminalText.plain(RowName(of: report.rows, by: report.by).of(row))
        guard let columns = device.columns else { return start + name }
        let room = min(columns - TextWidth.of(answer + start) - 1, TableFit.longestTitle)
        return room < min(Self.shortestName, TextWidth.of(name)) ? "" : start + TextWidth.cut(name, to: room)
    }

    // MARK: Gaps

    private var ratesSince: String? {
        guard !report.rows.isEmpty, let since = report.ratesSince else { return nil }
        let time = TimeText.parse(since, now: 0).flatMap { time in
            context.now.map { WindowText.moment(time, now: $0) + " UTC" }
        }
        return "per s counts since \(time ?? since), when the first data came"
    }

    private var notes: [String] {
        var notes = [ratesSince].compactMap(\.self) + report.gaps + [report.changedByRules].compactMap(\.self)
        if !report.rows.isEmpty, totals.count > 1, !report.by.contains(.kind) {
            notes.append("rows count requests made and requests served together; --by kind tells them apart")
        }
        if !report.rows.isEmpty, report.isCut {
            notes.append("\(report.shownOfAll) rows; totals are of all rows")
        }
        return notes + (ComparisonText(report)?.notes ?? [])
    }
}

extension Report {
    /// The row with the most failures; `nil` if nothing failed.
    var worstRow: ReportRow? {
        let worst = rows.max { $0.measures.failures.count < $1.measures.failures.count }
        return worst.flatMap { $0.measures.failures.count > 0 ? $0 : nil }
    }
}
