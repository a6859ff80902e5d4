import MartletReports
import MartletStorage

/// Three quantiles over time as lines on a logarithmic axis. They differ by their dashes, and are named at their ends.
struct QuantileChart {
    private static let height = 150.0

    private struct Line {
        let name: String
        let label: String
        let dash: String?
        let figure: KeyPath<RequestMeasures.Latency, Double> & Sendable
    }

    private static let lines = [
        Line(name: "l50", label: "p50", dash: nil, figure: \.p50),
        Line(name: "l95", label: "p95", dash: "7 4", figure: \.p95),
        Line(name: "l99", label: "p99", dash: "1.5 3.5", figure: \.p99),
    ]

    let slots: [TimeSlot]
    let axis: TimeAxis
    /// The requests of a part of the window.
    let requests: (TimeWindow) -> PageAddress

    var html: HTML {
        ChartPanel(
            id: "h-latency", title: "Latency", note: "ms, logarithmic",
            legend: Self.lines.map { .line($0.name, $0.label, dash: $0.dash) }, table: table
        ).html { plot }
    }

    private var plot: HTML {
        let figures = Self.lines.map { line in slots.map { $0.measures?.latency[keyPath: line.figure] } }
        let scale = ValueScale.logarithmic(figures.flatMap { $0.compactMap { $0 } }, top: 16, bottom: Self.height - 4)
        let ends = zip(Self.lines, figures).compactMap { line, figures in
            figures.last { $0 != nil }?.map { Plot.End(label: line.label, y: scale.y($0)) }
        }
        return Plot(
            label: label, height: Self.height + Plot.timesHeight,
            values: scale.ticks.map { (Figure.tickOfTime($0.value), $0.y) },
            ends: Plot.spread(ends.reversed(), gap: 12, within: Self.height)
        ).html {
            for (line, figures) in zip(Self.lines, figures) {
                for run in points(figures, scale) { self.line(line, run) }
            }
            axis.html(height: Self.height)
        }
    }

    /// A stretch of slots that all have requests, in a picture that is stretched to the width. A single slot is a short line.
    private func line(_ line: Line, _ points: [(x: Double, y: Double)]) -> HTML {
        let lone = points.count == 1 ? [(points[0].x + 0.8, points[0].y)] : []
        return element(
            "svg", Attribute("width", "100%"), Attribute("height", SVG.number(Self.height)),
            Attribute("viewBox", "0 0 100 \(SVG.number(Self.height))"), Attribute("preserveAspectRatio", "none")
        ) { SVG.line(points + lone, class: line.name, dash: line.dash, width: "2") }
    }

    /// The points of each stretch of slots with requests, at the middle of their slots.
    private func points(_ figures: [Double?], _ scale: ValueScale) -> [[(x: Double, y: Double)]] {
        var runs: [[(x: Double, y: Double)]] = [[]]
        for (slot, figure) in zip(slots, figures) {
            if let figure {
                let middle = (axis.x(slot.window.from) + axis.x(slot.window.to)) / 2
                runs[runs.count - 1].append((100 * middle, scale.y(figure)))
            } else if runs.last?.isEmpty == false {
                runs.append([])
            }
        }
        return runs.filter { !$0.isEmpty }
    }

    private var label: String {
        let ranges = Self.lines.compactMap { line -> String? in
            let figures = slots.compactMap { $0.measures?.latency[keyPath: line.figure] }
            guard let least = figures.min(), let most = figures.max() else { return nil }
            return "\(line.label) from \(FigureText.figure(least)) to \(FigureText.figure(most)) ms"
        }
        return "Quantiles over time on a logarithmic scale: "
            + (ranges.isEmpty ? "no requests" : ranges.joined(separator: ", "))
    }

    private var table: ChartTable {
        ChartTable(
            caption: "Quantiles over time", columns: ["p50 ms", "p95 ms", "p99 ms", "Max ms"],
            rows: slots.map { slot in
                let latency = slot.measures?.latency
                return ChartTable.Row(
                    name: ClockText.range(slot.window, in: axis.window), address: requests(slot.window),
                    cells: [latency?.p50, latency?.p95, latency?.p99, latency?.max].map {
                        $0.map { HTML(FigureText.figure($0)) } ?? .none
                    })
            })
    }
}
