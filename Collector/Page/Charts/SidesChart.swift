import MartletReports
import MartletStorage
import MartletTelemetry

/// The mean time of requests over time, stacked by the side on which it went.
struct SidesChart {
    private static let height = 196.0

    let slots: [TimeSlot]
    let axis: TimeAxis
    /// The requests of a part of the window.
    let requests: (TimeWindow) -> PageAddress

    var html: HTML {
        ChartPanel(
            id: "h-sides", title: "On whose side", note: "mean ms",
            legend: PhaseSide.allCases.reversed().map { .side($0) }, table: table
        ).html { plot }
    }

    private var plot: HTML {
        let means = slots.map { SideMeans($0.group.statistics.phases) }
        let scale = ValueScale.linear(means.map { $0?.sum ?? 0 }, top: 18, bottom: Self.height)
        return Plot(
            label: "Mean time of a request over time by side", height: Self.height + Plot.timesHeight,
            values: scale.ticks.map { (Figure.tick($0.value), $0.y) }
        ).html {
            for (slot, means) in zip(slots, means) {
                link(requests(slot.window), Attribute("tabindex", "-1")) {
                    SVG.rect(
                        "hit", x: axis.x(slot.window.from), width: BarPlace(slot.window, axis).width,
                        height: Self.height)
                    if let means { bar(means, BarPlace(slot.window, axis), scale) }
                    SVG.title(title(slot, means))
                }
            }
            axis.html(height: Self.height)
        }
    }

    private func bar(_ means: SideMeans, _ place: BarPlace, _ scale: ValueScale) -> HTML {
        var below = 0.0
        return HTML.joined(
            PhaseSide.allCases.map { side in
                let (from, to) = (scale.y(below), scale.y(below + means[side]))
                below += means[side]
                guard to < from else { return .none }
                return SideShape.bar(side, x: place.barFrom, y: to, width: place.barWidth, height: from - to)
            })
    }

    private func title(_ slot: TimeSlot, _ means: SideMeans?) -> String {
        let time = ClockText.range(slot.window, in: axis.window)
        guard let means else { return "\(time): \(slot.group.isEmpty ? "no requests" : "not measured")" }
        return "\(time), means: "
            + PhaseSide.allCases.map { "\(SideShape.name(of: $0)) \(FigureText.figure(means[$0])) ms" }.joined(
                separator: ", ")
    }

    private var table: ChartTable {
        ChartTable(
            caption: "Mean time of phases over time, in ms, of the requests that had them",
            columns: RequestPhase.allCases.map { $0.rawValue.replacing("_", with: " ") },
            rows: slots.map { slot in
                ChartTable.Row(
                    name: ClockText.range(slot.window, in: axis.window), address: requests(slot.window),
                    cells: RequestPhase.allCases.map { phase in
                        slot.measures?.phases[phase.rawValue].map { HTML(FigureText.figure($0)) } ?? .none
                    })
            })
    }
}
