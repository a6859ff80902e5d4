import MartletReports
import MartletStorage

/// A figure of a service's processes over time: one of several small charts of the same kind.
struct ProcessChart {
    private static let height = 90.0

    /// The unit of the figures.
    enum Unit {
        case cores, bytes, milliseconds

        func text(_ value: Double) -> String {
            switch self {
            case .cores: FigureText.figure(value)
            case .bytes: FigureText.bytes(value)
            case .milliseconds: FigureText.figure(value)
            }
        }

        fileprivate func tick(_ value: Double) -> String {
            switch self {
            case .cores: Figure.tick(value)
            case .bytes: FigureText.bytes(value)
            case .milliseconds: Figure.tickOfTime(value)
            }
        }

        fileprivate var name: String {
            switch self {
            case .cores: "cores"
            case .bytes: ""
            case .milliseconds: "ms"
            }
        }
    }

    let id: String
    let title: String
    let note: String
    let unit: Unit
    let lines: [TimeLine]
    let slots: [TimeWindow]
    let axis: TimeAxis
    /// The requests of a part of the window.
    let requests: (TimeWindow) -> PageAddress

    /// Empty if no line has a figure.
    @HTMLBuilder var html: HTML {
        if !shown.isEmpty {
            ChartPanel(
                id: id, title: title, note: note, legend: shown.map(\.key), table: table
            ).html { plot }
        }
    }

    private var shown: [TimeLine] { lines.filter { !$0.isEmpty } }

    private var plot: HTML {
        let figures = shown.flatMap { $0.figures.compactMap { $0 } }
        let scale =
            unit == .milliseconds
            ? ValueScale.logarithmic(figures, top: 12, bottom: Self.height - 4)
            : ValueScale.linear(figures, top: 12, bottom: Self.height - 4, isBinary: unit == .bytes)
        return Plot(
            label: label, height: Self.height + Plot.timesHeight,
            values: scale.ticks.map { (unit.tick($0.value), $0.y) }
        ).html {
            for line in shown { line.html(slots, axis, scale, height: Self.height) }
            axis.html(height: Self.height)
        }
    }

    private var label: String {
        let ranges = shown.compactMap { line -> String? in
            let figures = line.figures.compactMap { $0 }
            guard let least = figures.min(), let most = figures.max() else { return nil }
            return "\(line.label) from \(unit.text(least)) to \(unit.text(most)) \(unit.name)"
        }
        return "\(title) over time: " + ranges.joined(separator: ", ")
    }

    private var table: ChartTable {
        ChartTable(
            caption: "\(title) over time",
            columns: shown.map { unit.name.isEmpty ? $0.label : "\($0.label), \(unit.name)" },
            rows: slots.indices.map { slot in
                ChartTable.Row(
                    name: ClockText.range(slots[slot], in: axis.window), address: requests(slots[slot]),
                    cells: shown.map { $0.figures[slot].map { HTML(unit.text($0)) } ?? .none })
            })
    }
}
