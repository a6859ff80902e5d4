import MartletReports
import MartletStorage

/// A heat map of latency over time. Each cell opens its requests.
struct HeatMapChart {
    private static let (rowHeight, top) = (20.0, 18.0)

    let map: HeatMap
    let slots: [TimeSlot]
    let axis: TimeAxis
    /// The requests of a part of the window.
    let requests: (TimeWindow) -> PageAddress

    var html: HTML {
        ChartPanel(
            id: "h-heat", title: "Requests by latency", note: "ms, logarithmic; a cell opens its requests",
            legend: map.legend.map { .area("h\($0.level)", $0.text, width: 16) }, unit: "requests in a cell",
            table: table
        ).html {
            element(
                "div", .class("scroll"), Attribute("tabindex", "0"), .role("region"), .label("Heat map of latency")
            ) { plot }
        }
    }

    private var bottom: Double { Self.top + Double(map.rows.count) * Self.rowHeight }

    /// The upper end of a row.
    private func y(of row: Int) -> Double { bottom - Double(row + 1) * Self.rowHeight }

    private var plot: HTML {
        Plot(
            label: "Requests by time and latency; the same as a table below", height: bottom + Plot.timesHeight,
            values: values, name: "area heat", frame: "plot wide-plot"
        ).html {
            for (index, slot) in slots.enumerated() { column(slot, map.counts[index]) }
            axis.html(height: bottom)
        }
    }

    /// The bounds between rows.
    private var values: [(label: String, y: Double)] {
        map.rows.enumerated().compactMap { index, row in row.upper.map { (HeatMap.figure($0), y(of: index)) } }
    }

    private func column(_ slot: TimeSlot, _ counts: [UInt64]) -> HTML {
        let place = BarPlace(slot.window, axis, gap: 0.04)
        let (time, address) = (ClockText.range(slot.window, in: axis.window), requests(slot.window))
        return HTML.joined(
            counts.enumerated().filter { $0.element > 0 }.map { index, count in
                link(self.address(address, map.rows[index]), Attribute("tabindex", "-1")) {
                    SVG.rect(
                        "h\(map.level(of: count))", x: place.barFrom, y: y(of: index) + 1, width: place.barWidth,
                        height: Self.rowHeight - 2, radius: 2)
                    SVG.title("\(time), \(map.rows[index].text): \(Figure.requests(count))")
                }
            })
    }

    /// The requests from the lower bound of a row on, the fastest first, so that those of the row come first.
    private func address(_ slot: PageAddress, _ row: HeatMap.Row) -> PageAddress {
        let bound = row.lower.flatMap { $0 >= 1 && $0 < 1e15 ? "\(UInt64($0))ms" : nil }
        return slot.with([(.slowerThan, bound), (.sort, "duration"), (.ascending, "true")])
    }

    private var table: ChartTable {
        ChartTable(
            caption: "Requests by time and latency; each number opens its requests", columns: map.rows.map(\.text),
            rows: zip(slots, map.counts).map { slot, counts in
                let address = requests(slot.window)
                return ChartTable.Row(
                    name: ClockText.range(slot.window, in: axis.window), address: address,
                    cells: zip(map.rows, counts).map { row, count in
                        count == 0
                            ? HTML("·") : link(self.address(address, row)) { FigureText.grouped(count) }
                    })
            })
    }
}
