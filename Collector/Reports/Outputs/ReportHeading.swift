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

    var lines: [String] { first + notes }

    /// The answer, and its circumstances at the right of a terminal that has the room for both.
    private var first: [String] {
        let parts = circumstances
        let painted = parts.map { device.paint($0.text, $0.tone) }.joined(separator: ", ")
        guard let answer else { return [painted] }
        let taken = TextWidth.of(answer) + TextWidth.of(parts.map(\.text).joined(separator: ", "))
        let room = (device.columns ?? 0) - taken
        let shown = device.paint(answer, .bold)
        return room < 4 ? [shown, painted] : [shown + String(repeating: " ", count: room) + painted]
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

    /// Returns the row with the most failures, where all rows are known and it is not the only one. Its name is cut to the room
    /// that is left on a line of the terminal.
    private func worst(after answer: String) -> String {
        guard !report.isCut, report.rows.count > 1, let row = report.worstRow else { return "" }
        let start = ", \(FigureText.grouped(row.measures.failures.count)) of them in "
        let name = TerminalText.plain(RowName(of: report.rows, by: report.by).of(row))
        guard let columns = device.columns else { return start + name }
        let room = min(columns - TextWidth.of(answer + start) - 1, TableFit.longestTitle)
        return room < min(Self.shortestName, TextWidth.of(name)) ? "" : start + TextWidth.cut(name, to: room)
    }

    // MARK: The circumstances

    private var circumstances: [(text: String, tone: Tone?)] {
        var parts: [(text: String, tone: Tone?)] = []
        if let environment = context.flag("environment") {
            parts.append((environment.isEmpty ? "no environment" : TerminalText.plain(environment), .dim))
        }
        parts.append((WindowText.sentence(of: report, now: context.now), .dim))
        parts.append(completeness)
        if let latest = report.totals.lastSeen.flatMap({ TimeText.parse($0, now: 0) }) {
            let isOff = context.now.map { WindowText.isOff(latest: latest, now: $0) } ?? false
            parts.append((WindowText.freshness(latest: latest, now: context.now), isOff ? .yellow : .dim))
        }
        return parts
    }

    private var completeness: (text: String, tone: Tone?) {
        guard let share = report.completeness else { return ("completeness unknown", .yellow) }
        guard share < 1 else { return ("complete (100 %)", .green) }
        return ("incomplete (\(FigureText.completeness(share)))", .yellow)
    }

    // MARK: Gaps

    private var notes: [String] {
        var notes = report.gaps + [report.changedByRules].compactMap(\.self)
        if !report.rows.isEmpty, report.isCut {
            let (shown, all) = (
                FigureText.grouped(UInt64(report.rows.count)), FigureText.grouped(UInt64(report.rowCount))
            )
            notes.append("the first \(shown) of \(all) rows; totals are of all rows")
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
