import Foundation
import MartletReports
import MartletStorage
import MartletTelemetry

/// Requests by time and latency, with a column for each time slot and a row for each factor of two. Counts come from sketches,
/// whose buckets are at most 0.6 % wide, so a request near a bound may be counted in the next row.
struct HeatMap: Sendable, Equatable {
    /// The maximum number of rows. If durations span more factors of two, adjacent rows with the most requests are shown. The
    /// fastest of them then includes all faster requests, and the slowest includes a few slower ones.
    static let maxRows = 12
    /// The maximum number of slower requests that the slowest row may include, as a share of all requests.
    private static let mostBeyond = 0.01
    /// The number of colour steps.
    static let levels = 6
    /// Bounds are powers of two of a millisecond: from a nanosecond to 36 years.
    private static let exponents = -20...40

    /// A range of durations.
    struct Row: Sendable, Equatable {
        /// The bounds in milliseconds; `nil` for a row without one. A duration equal to ``upper`` belongs to the row.
        let lower: Double?
        let upper: Double?

        /// The range in words, such as `512–1,024 ms`.
        var text: String {
            switch (lower, upper) {
            case (nil, let upper?): "up to \(FigureText.bound(upper)) ms"
            case (let lower?, nil): "more than \(FigureText.bound(lower)) ms"
            case (let lower?, let upper?): "\(FigureText.bound(lower))–\(FigureText.bound(upper)) ms"
            case (nil, nil): "any duration"
            }
        }
    }

    /// The rows, the fastest first.
    let rows: [Row]
    /// The bounds between the rows in nanoseconds. A duration equal to one belongs to the faster row.
    var rowBounds: [UInt64] { rows.dropLast().compactMap { row in row.upper.map { UInt64(min($0 * 1e6, 9e18)) } } }
    /// The requests of each slot by row.
    let counts: [[UInt64]]
    /// The highest count of each colour step. Steps follow the square root of the count, so that small counts can be
    /// distinguished.
    let bounds: [UInt64]

    /// - Parameter slots: the durations in each slot, in seconds.
    init(_ slots: [ExponentialHistogram]) {
        guard let range = Self.range(of: slots) else {
            (rows, counts, bounds) = ([], slots.map { _ in [] }, [])
            return
        }
        let fine = slots.map { Self.counts(of: $0, in: range) }
        let kept = Self.shown((0..<range.count).map { row in fine.reduce(0) { $0 &+ $1[row] } })
        let exponents = Array(range)
        rows = kept.map { row in
            Row(
                lower: row == kept.lowerBound ? nil : pow(2, Double(exponents[row])),
                upper: row == kept.upperBound - 1 && row < exponents.count - 1
                    ? nil : pow(2, Double(exponents[row] + 1)))
        }
        counts = fine.map { counts in Self.joined(counts, in: kept) }
        let most = counts.joined().max() ?? 0
        bounds = (1...Self.levels).map { level in
            level == Self.levels
                ? most : UInt64((Double(most) * pow(Double(level) / Double(Self.levels), 2)).rounded(.down))
        }
    }

    /// Returns the colour step of a count, from 1 on; 0 for none.
    func level(of count: UInt64) -> Int {
        count == 0 ? 0 : (bounds.firstIndex { count <= $0 } ?? Self.levels - 1) + 1
    }

    /// The range of counts of each colour step that occurs.
    var legend: [(level: Int, text: String)] {
        bounds.enumerated().compactMap { index, upper in
            let lower = index == 0 ? 1 : bounds[index - 1] + 1
            guard lower <= upper else { return nil }
            let text =
                lower == upper ? FigureText.grouped(upper) : "\(FigureText.grouped(lower))–\(FigureText.grouped(upper))"
            return (index + 1, text)
        }
    }

    /// The exponents of the rows' lower bounds, from the shortest duration to the longest.
    private static func range(of slots: [ExponentialHistogram]) -> Range<Int>? {
        let known = slots.filter { $0.count > 0 }
        guard let least = known.compactMap({ $0.quantile(0) }).min(),
            let most = known.compactMap({ $0.quantile(1) }).max()
        else { return nil }
        let first = exponent(least * 1000)
        return first..<max(first, exponent(most * 1000)) + 1
    }

    /// Returns the exponent of the lower bound of the row that contains a duration in milliseconds.
    private static func exponent(_ milliseconds: Double) -> Int {
        guard milliseconds > 0 else { return exponents.lowerBound }
        let exponent = log2(milliseconds).rounded(.up) - 1
        return Int(min(max(exponent, Double(exponents.lowerBound)), Double(exponents.upperBound)))
    }

    /// Returns the requests of each row. The first row includes shorter ones, and the last row longer ones.
    private static func counts(of histogram: ExponentialHistogram, in range: Range<Int>) -> [UInt64] {
        var below: UInt64 = 0
        let histogram = histogram.spread
        return range.map { exponent in
            let isLast = exponent == range.upperBound - 1
            let upTo = isLast ? histogram.count : histogram.countOfValues(upTo: pow(2, Double(exponent + 1)) / 1000)
            defer { below = max(below, upTo) }
            return upTo - min(upTo, below)
        }
    }

    /// Returns the adjacent rows to show: those with the most requests, among the ranges with only a few slower requests above
    /// them. On a tie, returns the slowest, so that the tail has rows.
    private static func shown(_ sums: [UInt64]) -> Range<Int> {
        guard sums.count > maxRows else { return 0..<sums.count }
        func requests(_ rows: Range<Int>) -> UInt64 { sums[rows].reduce(0, &+) }
        let most = UInt64(Double(requests(0..<sums.count)) * mostBeyond)
        let starts = (0...sums.count - maxRows).reversed().filter { requests($0 + maxRows..<sums.count) <= most }
        let start = starts.max { requests($0..<$0 + maxRows) < requests($1..<$1 + maxRows) } ?? 0
        return start..<start + maxRows
    }

    private static func joined(_ counts: [UInt64], in kept: Range<Int>) -> [UInt64] {
        var result = Array(counts[kept])
        result[0] += counts[..<kept.lowerBound].reduce(0, &+)
        result[result.count - 1] += counts[kept.upperBound...].reduce(0, &+)
        return result
    }
}

/// A heat map of latency over time. Each cell links to its requests.
struct HeatMapChart {
    private static let (rowHeight, top) = (20.0, 18.0)

    let map: HeatMap
    let slots: [TimeSlot]
    let axis: TimeAxis
    /// The address of the requests in a part of the window.
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
            label: "Requests by time and latency; the table below has the same data", height: bottom + Plot.timesHeight,
            values: values, name: "area heat", frame: "plot wide-plot"
        ).html {
            for index in slots.indices { column(slots[index], map.counts[index]) }
            axis.html(height: bottom)
        }
    }

    /// The bounds between rows.
    private var values: [(label: String, y: Double)] {
        map.rows.enumerated().compactMap { index, row in row.upper.map { (FigureText.bound($0), y(of: index)) } }
    }

    private func column(_ slot: TimeSlot, _ counts: [UInt64]) -> HTML {
        let place = BarPlace(slot.window, axis, gap: 0.04)
        let (time, address) = (ClockText.range(slot.window, in: axis.window), requests(slot.window))
        return HTML.joined(
            counts.enumerated().filter { $0.element > 0 }.map { index, count in
                link(self.address(address, row: index), Attribute("tabindex", "-1")) {
                    SVG.rect(
                        "h\(map.level(of: count))", x: place.barFrom, y: y(of: index) + 1, width: place.barWidth,
                        height: Self.rowHeight - 2, radius: 2)
                    SVG.title("\(time), \(map.rows[index].text): \(FigureText.counted(count, "request"))")
                }
            })
    }

    /// The address of a row's kept requests, the fastest first. They include a request that took exactly as long as the upper
    /// bound.
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
            caption: "Requests by time and latency; each number opens those whose details are kept",
            columns: map.rows.map(\.text),
            rows: slots.indices.map { index in
                let address = requests(slots[index].window)
                return ChartTable.Row(
                    name: ClockText.range(slots[index].window, in: axis.window), address: address,
                    cells: map.rows.indices.map { row in
                        cell(map.counts[index][row], self.address(address, row: row))
                    })
            })
    }

    private func cell(_ count: UInt64, _ address: PageAddress) -> HTML {
        count > 0 ? link(address) { FigureText.grouped(count) } : HTML("·")
    }
}
