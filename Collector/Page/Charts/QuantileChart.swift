import MartletReports
import MartletStorage

/// Three quantiles over time as lines on a logarithmic axis.
struct QuantileChart {
    private static let height = 150.0

    let slots: [TimeSlot]
    let axis: TimeAxis
    /// The requests of a part of the window.
    let requests: (TimeWindow) -> PageAddress

    private var lines: [TimeLine] {
        let latency = slots.map { $0.measures?.latency }
        return [
            TimeLine(name: "l50", label: "p50", dash: nil, figures: latency.map { $0?.p50 }),
            TimeLine(name: "l95", label: "p95", dash: "7 4", figures: latency.map { $0?.p95 }),
            TimeLine(name: "l99", label: "p99", dash: "1.5 3.5", figures: latency.map { $0?.p99 }),
        ]
    }

    var html: HTML {
        ChartPanel(
            id: "h-latency", title: "Latency", note: "ms, logarithmic", legend: lines.map(\.key), table: table
        ).html { plot }
    }

    private var plot: HTML {
        let lines = lines
        let scale = ValueScale.logarithmic(
            lines.flatMap { $0.figures.compactMap { $0 } }, top: 16, bottom: Self.height - 4)
        return Plot(
            label: label, height: Self.height + Plot.timesHeight,
            values: scale.ticks.map { (Figure.tickOfTime($0.value), $0.y) },
            ends: Plot.spread(lines.compactMap { $0.end(scale) }.reversed(), gap: 12, within: Self.height)
        ).html {
            for line in lines { line.html(slots.map(\.window), axis, scale, height: Self.height) }
            axis.html(height: Self.height)
        }
    }

    private var label: String {
        let ranges = lines.compactMap { line -> String? in
            let figures = line.figures.compactMap { $0 }
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
