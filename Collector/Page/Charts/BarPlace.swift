import MartletStorage

/// The place of a slot's bar on the axis, as shares of its width.
struct BarPlace: Equatable {
    /// The whole slot.
    let from: Double
    let width: Double
    /// The bar in its middle.
    let barFrom: Double
    let barWidth: Double

    /// - Parameter gap: the gap at either side of the bar, as a share of the slot.
    init(_ window: TimeWindow, _ axis: TimeAxis, gap: Double = 0.1) {
        from = axis.x(window.from)
        width = axis.x(window.to) - from
        barFrom = from + width * gap
        barWidth = width * (1 - 2 * gap)
    }
}
