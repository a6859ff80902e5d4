/// The spans of a trace as lines with bars for a person.
struct TraceText {
    /// Characters of the bars in a file.
    private static let fileWidth = 60
    /// Characters of the bars on a narrow terminal.
    private static let narrowest = 12

    private let report: RequestReport
    private let waterfall: TraceWaterfall

    init(_ report: RequestReport) {
        self.report = report
        waterfall = TraceWaterfall(report.trace)
    }

    func text(on device: OutputDevice) -> String {
        let room = table(nil).room(on: device).map { max(Self.narrowest, $0) }
        let axis = TimeAxis(scale: waterfall.scale, width: room ?? Self.fileWidth)
        let notes = notes(on: device).map { "  " + $0 + "\n" }.joined()
        return title(on: device) + "\n" + table(axis).text(on: device) + notes
    }

    private func title(on device: OutputDevice) -> String {
        let spans = report.trace.count + (report.moreSpans ?? 0)
        return device.paint("trace \(report.summary.traceID)", .bold)
            + ": \(FigureText.counted(spans, "span")) of \(FigureText.counted(waterfall.services.count, "service"))"
    }

    /// - Parameter axis: the axis of the bars, which are left out without one.
    private func table(_ axis: TimeAxis?) -> TextTable {
        let scale = axis.map { "0 to \(FigureText.figure($0.scale)) ms" } ?? ""
        var table = TextTable([
            TextTable.Column(title: ""), TextTable.Column(title: "service", isName: true, gap: 1),
            TextTable.Column(title: "span", isName: true), TextTable.Column(title: "ms", alignment: .figure),
            TextTable.Column(title: "status"), TextTable.Column(title: scale),
        ])
        table.addTitles()
        for row in waterfall.rows {
            let (span, tone) = (row.span, row.span.failed ? Tone.red : nil)
            let name = String(repeating: "  ", count: row.depth) + "\(span.verb) \(span.name)"
            table.add([
                TextTable.Cell(mark(of: row), tone), TextTable.Cell(span.service), TextTable.Cell(name),
                TextTable.Cell(FigureText.figure(span.duration)), TextTable.Cell(Self.outcome(of: span), tone),
                TextTable.Cell(axis.map { Self.bar(of: span, on: $0) } ?? "", tone),
            ])
        }
        return table
    }

    private func mark(of row: TraceWaterfall.Row) -> String {
        (row.span.spanID == report.summary.spanID ? ">" : " ") + (row.failedFirst ? "✗" : " ")
    }

    private static func outcome(of span: TraceSpan) -> String {
        span.error ?? span.status.map(String.init) ?? (span.isError ? "error" : "")
    }

    private static func bar(of span: TraceSpan, on axis: TimeAxis) -> String {
        let characters = axis.characters(from: span.offset, lasting: span.duration)
        let line = String(repeating: "─", count: max(0, characters.count - 2))
        return String(repeating: " ", count: characters.lowerBound) + (characters.count == 1 ? "│" : "├\(line)┤")
    }

    private func notes(on device: OutputDevice) -> [String] {
        var notes =
            report.moreSpans.map { more in
                [
                    "and \(FigureText.counted(more, "more span"))"
                        + (waterfall.hasAllFailed ? "; all that failed are shown" : "")
                ]
            } ?? []
        if let first = waterfall.rows.first(where: \.failedFirst)?.span {
            let name = TerminalText.plain("\(first.service) \(first.verb) \(first.name), \(Self.outcome(of: first))")
            notes.append(device.paint("✗ first to fail", .red) + ": \(name)")
        }
        notes += waterfall.skews.map { skew in
            device.paint(TerminalText.plain(Self.sentence(skew)), .yellow)
        }
        return notes
    }

    private static func sentence(_ skew: TraceWaterfall.Skew) -> String {
        """
        The clock of \(skew.sender) is \(FigureText.figure(skew.behind)) ms or more behind that of \
        \(skew.caller). The bars stand where the clocks put them.
        """
    }
}
