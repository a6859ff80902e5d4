import MartletStorage
import MartletTelemetry

/// A figure over time as bars without labels, in which those of a finding are marked. The words next to it say the times.
struct FindingBars {
    private static let (height, ground) = (24.0, 22.0)

    struct Bar {
        let window: TimeWindow
        let value: Double
    }

    let bars: [Bar]
    let axis: TimeAxis
    /// The time of the finding; `nil` if it goes beyond the window.
    let since: UnixNanoseconds?
    let until: UnixNanoseconds?

    /// Empty if all figures are zero.
    var html: HTML {
        let values = bars.map { $0.value.isFinite ? max(0, $0.value) : 0 }
        guard let most = values.max(), most > 0 else { return .none }
        return SVG.wide("timeline", height: Self.height, .hidden) {
            for (bar, value) in zip(bars, values) {
                let place = BarPlace(bar.window, axis, gap: 0.15)
                let height = max(1, value / most * (Self.ground - 1))
                SVG.rect(
                    isMarked(bar.window) ? "on" : "off", x: place.barFrom, y: Self.ground - height,
                    width: place.barWidth, height: height)
            }
            SVG.across("grid", y: Self.ground + 0.5)
        }
    }

    private func isMarked(_ slot: TimeWindow) -> Bool {
        slot.to > (since ?? 0) && slot.from < (until ?? .max)
    }
}
