import MartletStorage
import MartletTelemetry

/// The table of a report for a person to read.
package struct ReportTable {
    let report: Report
    let context: ReportContext
    let device: OutputDevice
    let totals: [KindTotal]
    private let trend: TrendSlots
    /// The dimensions with the same value in all rows. On a terminal they are in the heading.
    private let common: [Dimension]

    /// Returns text that ends with a line break.
    ///
    /// A file or a pipe gets the same columns for every report. A terminal gets the columns that matter for this report.
    package static func text(
        of report: Report, _ context: ReportContext = ReportContext(), on device: OutputDevice = .file
    ) -> String {
        let table = ReportTable(report, context, device)
        let heading = table.heading + "\n"
        let changes = table.changes.isEmpty ? "" : table.changes + "\n"
        guard !report.rows.isEmpty else { return heading + NoResultsText.sentence(of: report, context) + changes }
        var next = device.paint("See them:", .dim) + "  " + NextCommand.text(for: report, context) + "\n"
        if report.compare != nil { next += NextCommand.again(report, context.flags, on: device) }
        let unknown = (report.unknownNames ?? []).map { $0.sentence + ".\n" }.joined()
        let siblings = EqualSiblings.sentence(about: report).map { device.paint($0 + ".", .dim) + "\n" } ?? ""
        return heading + "\n" + (device.isTerminal ? table.sections : table.file) + siblings + "\n" + unknown + changes
            + next
    }

    init(_ report: Report, _ context: ReportContext, _ device: OutputDevice) {
        (self.report, self.context, self.device) = (report, context, device)
        totals = KindTotal.all(of: report, only: context.flag("kind").flatMap(RequestKind.init))
        trend = TrendSlots(of: report)
        common = device.isTerminal ? Self.common(of: report, context) : []
    }

    /// Returns the dimensions with one value. The last dimension is never among them, so that each row has a name. If rows were
    /// left out, only dimensions fixed by a filter count, because rows that are not shown may have another value and are
    /// included in the totals.
    private static func common(of report: Report, _ context: ReportContext) -> [Dimension] {
        guard let first = report.rows.first else { return [] }
        return report.by.dropLast().filter { dimension in
            report.rows.allSatisfy { $0.dimensions[dimension] == first.dimensions[dimension] }
                && (!report.isCut || context.isOnly(first.text(of: dimension), of: dimension))
        }
    }

    /// The lines about the changed rows; empty if the report is not compared.
    var changes: String { ComparisonText(report)?.lines(on: device) ?? "" }

    // MARK: A file

    var fileColumns: [ReportColumn] {
        ReportColumn.piped(phases: context.showsPhases, isCompared: report.compare != nil)
    }

    private var file: String {
        let figures = fileColumns
        let names = report.by.map { TextTable.Column(title: $0.rawValue, isName: true) }
        var table = TextTable(names + figures.map(\.column))
        table.addTitles()
        for line in fileLines {
            table.add(line.names.map { TextTable.Cell($0) } + figures.map { $0.cell(line.figures) })
        }
        return table.text(on: device)
    }

    /// The rows and the totals.
    var fileLines: [(names: [String], figures: ReportLine)] {
        let rows = report.rows.map { row in
            (
                names: report.by.map { name(of: row, $0) },
                figures: ReportLine(measures: row.measures, verdict: row.verdict)
            )
        }
        let totals = totals.map { total in
            let label = self.totals.count > 1 ? "total \(total.kind?.rawValue ?? "")" : "total"
            let names = report.by.indices.map { $0 == 0 ? label : "" }
            return (names: names, figures: ReportLine(measures: total.measures))
        }
        return rows + totals
    }

    private func name(of row: ReportRow, _ dimension: Dimension) -> String {
        let name = (row.dimensions[dimension] ?? nil) ?? "–"
        // The usual port adds nothing, and a terminal has little room.
        return device.isTerminal && dimension == .host && name.hasSuffix(":443") ? String(name.dropLast(4)) : name
    }

    // MARK: A terminal

    /// The outgoing and the incoming requests, each below a title with its totals.
    private var sections: String {
        let table = sectioned.table
        return table.text(on: device) + hint(at: table.leftOut(on: device))
    }

    /// The lines of the table on a screen, and the index of each row's line.
    var screen: (lines: [String], rows: [Int: Int]) {
        let (table, rows) = sectioned
        return (table.text(on: device).split(separator: "\n", omittingEmptySubsequences: false).map(String.init), rows)
    }

    /// The lines above the table: what happened, and then the answer.
    var heading: String {
        (context.findings.heading(on: device) + ReportHeading(self).lines).joined(separator: "\n")
    }

    private var sectioned: (table: TextTable, rows: [Int: Int]) {
        let figures = ReportColumn.terminal(phases: knownPhases, fullBar: fullBar, sortedBy: context.sortedBy)
        let names = report.by.filter { !common.contains($0) && !($0 == .kind && report.by.count > 1) }
        var columns = names.map(column) + figures.map(\.column)
        if report.compare != nil {
            columns[0].gap = 1
            columns.insert(TextTable.Column(title: ""), at: 0)
        }
        var table = TextTable(columns)
        var lines: [Int: Int] = [:]
        for (index, (kind, rows)) in kinds.enumerated() {
            if index > 0 { table.add(text: "") }
            table.add(text: title(kind))
            table.addTitles()
            for row in rows {
                let line = line(row)
                lines[row] = table.lineCount
                let cells = names.map { TextTable.Cell(name(of: report.rows[row], $0)) }
                table.add(sign(line.verdict) + cells + figures.map { $0.cell(line) })
            }
        }
        return (table, lines)
    }

    /// Returns no cell if the report is not compared.
    private func sign(_ verdict: Verdict?) -> [TextTable.Cell] {
        guard report.compare != nil else { return [] }
        return [TextTable.Cell(verdict.map(VerdictText.sign) ?? "", verdict.flatMap(VerdictText.tone))]
    }

    /// The requested phases that a row has, by their names.
    private var knownPhases: Set<String> {
        context.showsPhases ? Set(report.rows.flatMap { $0.measures.phases.keys }) : []
    }

    /// Returns a line about requested phases that are unknown or have no room.
    private func hint(at leftOut: [String]) -> String {
        if context.showsPhases, knownPhases.isEmpty {
            return device.paint("No sender reports the phases of these requests.", .dim) + "\n"
        }
        let phases = leftOut.filter(ReportFigure.phases.map(\.title).contains)
        guard !phases.isEmpty else { return "" }
        return device.paint("No room for \(phases.joined(separator: ", ")). Piped output has every column.", .dim)
            + "\n"
    }

    private var kinds: [(kind: RequestKind?, rows: [Int])] {
        guard report.by.contains(.kind) else {
            return [(totals.count == 1 ? totals[0].kind : nil, Array(report.rows.indices))]
        }
        return RequestKind.allCases.compactMap { kind in
            let rows = report.rows.indices.filter { report.rows[$0].kind == kind }
            return rows.isEmpty ? nil : (kind, rows)
        }
    }

    private func column(_ dimension: Dimension) -> TextTable.Column {
        // A method needs no title.
        let title = dimension == .method && report.by.count > 1 ? "" : dimension.rawValue
        return TextTable.Column(title: title, isName: true)
    }

    private func line(_ row: Int) -> ReportLine {
        let row = report.rows[row]
        var line = ReportLine(measures: row.measures, verdict: row.verdict)
        line.trend = row.trend.map { trend.rates(of: $0.count) }
        if row.measures.failures.count > 0 { line.failedTrend = row.trend.map { trend.rates(of: $0.failed) } }
        if let seen = row.lastSeen.flatMap({ TimeText.parse($0, now: 0) }), let now = context.now {
            line.age = (max(now, seen) - seen) / 1_000_000_000
        }
        return line
    }

    /// The fewest requests that a row needs for its failure rate to set the scale of bars. Otherwise a row with one failure of
    /// two requests would dwarf all others.
    private static let fewestForScale: UInt64 = 30

    /// The failure rate of a full bar: the highest one, and at least 1 %, so that a rare failure gets a small bar.
    private var fullBar: Double {
        report.rows.lazy.map(\.measures).filter { $0.count >= Self.fewestForScale }
            .reduce(0.01) { max($0, $1.failures.rate) }
    }

    private func title(_ kind: RequestKind?) -> String {
        var title = KindTotal.title(kind)
        if common.contains(.service) { title += " \(preposition(kind)) \(commonValue(.service))" }
        let others = common.filter { $0 != .kind && $0 != .service }.map { "\($0.rawValue) \(commonValue($0))" }
        if !others.isEmpty { title += " (" + others.joined(separator: ", ") + ")" }
        let total = totals.first { $0.kind == kind }
        return device.paint(title, .bold) + (total.map { ": " + $0.summary } ?? "")
    }

    private func preposition(_ kind: RequestKind?) -> String {
        switch kind {
        case .client: "from"
        case .server: "to"
        case nil: "of"
        }
    }

    private func commonValue(_ dimension: Dimension) -> String {
        let value = report.rows.first.map { name(of: $0, dimension) } ?? ""
        return TextWidth.cut(TerminalText.plain(value), to: TableFit.longestTitle)
    }
}
