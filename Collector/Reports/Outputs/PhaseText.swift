import MartletTelemetry

/// The phases of a request as lines with bars for a person.
struct PhaseText {
    /// Characters of the bars in a file.
    private static let fileWidth = 60
    /// Characters of the bars on a narrow terminal.
    private static let narrowest = 8

    private let waterfall: PhaseWaterfall

    /// Returns `nil` if the sender tells no phases.
    init?(_ report: RequestReport) {
        guard let waterfall = PhaseWaterfall(report) else { return nil }
        self.waterfall = waterfall
    }

    func text(on device: OutputDevice) -> String {
        let notes = waterfall.bars.map { TextWidth.of(Self.note($0)) }.max() ?? 0
        let room = table(nil).room(on: device).map { max(Self.narrowest, $0 - notes) }
        let axis = TimeAxis(scale: waterfall.scale, width: room ?? Self.fileWidth)
        return table(axis).text(on: device) + "  " + device.paint(PhaseBar.legend, .dim) + "\n"
    }

    /// - Parameter axis: the axis of the bars, which are left out without one.
    private func table(_ axis: TimeAxis?) -> TextTable {
        var table = TextTable([
            TextTable.Column(title: ""), TextTable.Column(title: "", alignment: .figure),
            TextTable.Column(title: "", gap: 1), TextTable.Column(title: ""),
        ])
        for bar in waterfall.bars {
            if bar.phase == .firstByte, let missing = missingConnection { table.add(missing) }
            let figure = bar.isUnfinished ? "…" : FigureText.figure(bar.length)
            let cells = [
                "  " + bar.phase.rawValue.replacing("_", with: " "), figure, bar.isUnfinished ? "" : "ms",
            ]
            let drawn = axis.map { Self.text(of: bar, on: $0) } ?? ""
            table.add(cells.map { TextTable.Cell($0) } + [TextTable.Cell(drawn, bar.isUnfinished ? .red : nil)])
        }
        return table
    }

    private var missingConnection: [TextTable.Cell]? {
        guard waterfall.connection == .reused else { return nil }
        return ["  connect", "–", "", "reused connection"].map { TextTable.Cell($0) }
    }

    private static func text(of bar: PhaseWaterfall.Bar, on axis: TimeAxis) -> String {
        let characters = axis.characters(from: bar.start, lasting: bar.length)
        return String(repeating: " ", count: characters.lowerBound)
            + String(repeating: bar.side.sign, count: characters.count) + note(bar)
    }

    private static func note(_ bar: PhaseWaterfall.Bar) -> String {
        guard bar.isUnfinished else { return "" }
        return "  never \(bar.phase == .firstByte ? "came" : "ended"): \(FigureText.figure(bar.length)) ms"
    }
}
