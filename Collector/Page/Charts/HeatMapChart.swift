import MartletReports
import MartletStorage

/// A heat map of latency over time. Each cell opens its requests.
struct HeatMapChart {
    private static let (rowHeight, top) = (20.0, 18.0)

    let map: HeatMap
    /// The kept requests of each slot by row.
    let kept: [[Int]]
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
            for index in slots.indices { column(slots[index], map.counts[index], kept[index]) }
            axis.html(height: bottom)
        }
    }

    /// The bounds between rows.
    private var values: [(label: String, y: Double)] {
        map.rows.enumerated().compactMap { index, row in row.upper.map { (HeatMap.figure($0), y(of: index)) } }
    }

    private func column(_ slot: TimeSlot, _ counts: [UInt64], _ kept: [Int]) -> HTML {
        let place = BarPlace(slot.window, axis, gap: 0.04)
        let (time, address) = (ClockText.range(slot.window, in: axis.window), requests(slot.window))
        return HTML.joined(
            counts.enumerated().filter { $0.element > 0 }.map { index, count in
                link(self.address(address, row: index), Attribute("tabindex", "-1")) {
                    SVG.rect(
                        "h\(map.level(of: count))", x: place.barFrom, y: y(of: index) + 1, width: place.barWidth,
                        height: Self.rowHeight - 2, radius: 2)
                    SVG.title(
                        "\(time), \(map.rows[index].text): "
                            + "\(FigureText.counted(count, "request")), \(Self.kept(kept[index], of: count))")
                }
            })
    }

    /// Returns the number of a cell's kept requests. They are kept by the times at which they started, and counted by those at
    /// which they ended, so a few more may be kept.
    private static func kept(_ kept: Int, of count: UInt64) -> String {
        kept == 0 ? "none kept" : UInt64(kept) >= count ? "all kept" : "\(FigureText.grouped(UInt64(kept))) kept"
    }

    /// The kept requests of a row, the fastest first. One that took as long as the upper bound is among them.
    private func address(_ slot: PageAddress, row: Int) -> PageAddress {
        let bounds = map.rowBounds
        return slot.with([
            (.slowerThan, row > 0 ? TimeText.length(bounds[row - 1]) : nil),
            (.fasterThan, row < bounds.count ? TimeText.length(bounds[row] + 1) : nil),
            (.sort, "duration"), (.ascending, "true"),
        ])
    }

    private var table: ChartTable {
        ChartTable(
            caption: "Requests by time and latency, and those whose details are kept; each number opens them",
            columns: map.rows.map(\.text),
            rows: slots.indices.map { index in
                let address = requests(slots[index].window)
                return ChartTable.Row(
                    name: ClockText.range(slots[index].window, in: axis.window), address: address,
                    cells: map.rows.indices.map { row in
                        cell(map.counts[index][row], kept[index][row], self.address(address, row: row))
                    })
            })
    }

    private func cell(_ count: UInt64, _ kept: Int, _ address: PageAddress) -> HTML {
        guard count > 0 else { return HTML("·") }
        return HTML.joined([
            link(address) { FigureText.grouped(count) },
            element("span", .class("hint")) { " " + Self.kept(kept, of: count) },
        ])
    }
}
