import MartletReports
import MartletStorage

/// Requests per second and the share of failures over time, as bars under each other. Each bar opens its requests.
struct RateChart {
    private static let (rateHeight, failedHeight) = (76.0, 74.0)
    /// The smallest end of the axis of failures in per cent: a label with more decimal places is wider than its place.
    private static let leastFailed = 0.005

    let slots: [TimeSlot]
    let axis: TimeAxis
    /// The requests of a part of the window.
    let requests: (TimeWindow) -> PageAddress

    var html: HTML {
        ChartPanel(
            id: "h-rate", title: "Rate and failures",
            legend: [.area("vol", "requests per s"), .area("badfill", "failed %")], table: table
        ).html {
            rate
            failed
        }
    }

    private var rate: HTML {
        let figures = slots.map { $0.measures?.perSecond ?? 0 }
        let scale = ValueScale.linear(figures, top: 18, bottom: Self.rateHeight - 2)
        let label = "Requests per second over time, \(Self.range(figures, ""))"
        return Plot(label: label, height: Self.rateHeight, values: Self.labels(scale, unit: "/s")).html {
            bars("vol", figures, scale)
            axis.html(height: scale.bottom, namesTimes: false)
        }
    }

    private var failed: HTML {
        let figures = slots.map { ($0.measures?.failures.rate ?? 0) * 100 }
        let scale = ValueScale.linear(figures, top: 10, bottom: Self.failedHeight - 2, least: Self.leastFailed)
        let label = "Share of failed requests over time, \(Self.range(figures, " %"))"
        return Plot(
            label: label, height: Self.failedHeight + Plot.timesHeight, values: Self.labels(scale, unit: " %")
        ).html {
            bars("badfill", figures, scale)
            axis.html(height: scale.bottom, namesMarks: false)
        }
    }

    private func bars(_ name: String, _ figures: [Double], _ scale: ValueScale) -> HTML {
        HTML.joined(
            zip(slots, figures).map { slot, figure in
                let place = BarPlace(slot.window, axis)
                return link(requests(slot.window), Attribute("tabindex", "-1")) {
                    SVG.rect("hit", x: place.from, width: place.width, height: scale.bottom)
                    if figure > 0 {
                        let y = min(scale.y(figure), scale.bottom - 1)
                        SVG.rect(name, x: place.barFrom, y: y, width: place.barWidth, height: scale.bottom - y)
                    }
                    SVG.title(title(slot))
                }
            })
    }

    private func title(_ slot: TimeSlot) -> String {
        let time = ClockText.range(slot.window, in: axis.window)
        guard let measures = slot.measures else { return "\(time): no requests" }
        let failed = measures.failures
        let rest =
            failed.count == 0
            ? "none failed" : "\(FigureText.grouped(failed.count)) failed (\(FigureText.percent(failed.rate)) %)"
        return "\(time): \(FigureText.counted(measures.count, "request")), \(rest)"
    }

    private var table: ChartTable {
        ChartTable(
            caption: "Requests and failures over time", columns: ["Requests", "Per s", "Failed", "Failed %"],
            rows: slots.map { slot in
                let (measures, failed) = (slot.measures, slot.measures?.failures)
                return ChartTable.Row(
                    name: ClockText.range(slot.window, in: axis.window), address: requests(slot.window),
                    cells: [
                        HTML(FigureText.grouped(measures?.count ?? 0)),
                        HTML(FigureText.figure(measures?.perSecond ?? 0)),
                        HTML(FigureText.grouped(failed?.count ?? 0)),
                        HTML(failed.map { FigureText.percent($0.rate) } ?? ""),
                    ])
            })
    }

    private static func labels(_ scale: ValueScale, unit: String) -> [(label: String, y: Double)] {
        scale.ticks.enumerated().map { index, tick in
            let text = Figure.tick(tick.value)
            return (index == scale.ticks.count - 1 ? text + unit : text, tick.y)
        }
    }

    private static func range(_ figures: [Double], _ unit: String) -> String {
        "from \(FigureText.figure(figures.min() ?? 0)) to \(FigureText.figure(figures.max() ?? 0))\(unit)"
    }
}
