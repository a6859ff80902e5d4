import MartletReports
import MartletStorage
import MartletTelemetry

/// Requests per second and the share of failures over time, as two rows of bars. Each bar links to its requests.
struct RateChart {
    private static let (rateHeight, failedHeight) = (76.0, 74.0)
    /// The minimum upper end of the failure axis, in per cent. A label with more decimal places would not fit.
    private static let leastFailed = 0.005

    let slots: [TimeSlot]
    let axis: TimeAxis
    /// The address of the requests in a part of the window.
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
        let label = "Requests per second over time, \(RangeText.text(figures, "") ?? "no requests")"
        return Plot(label: label, height: Self.rateHeight, values: Self.labels(scale, unit: "/s")).html {
            bars("vol", figures, scale)
            axis.html(height: scale.bottom, namesTimes: false)
        }
    }

    private var failed: HTML {
        let figures = slots.map { ($0.measures?.failures.rate ?? 0) * 100 }
        let scale = ValueScale.linear(figures, top: 10, bottom: Self.failedHeight - 2, least: Self.leastFailed)
        let label = "Share of failed requests over time, \(RangeText.text(figures, " %") ?? "no requests")"
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
}

/// Three quantiles over time as lines on a logarithmic axis.
struct QuantileChart {
    private static let height = 150.0

    let slots: [TimeSlot]
    let axis: TimeAxis
    /// The address of the requests in a part of the window.
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
        let ranges = lines.compactMap { line in RangeText.text(line.figures, " ms").map { "\(line.label) \($0)" } }
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

/// The mean time of requests over time, stacked by the side that took it.
struct SidesChart {
    private static let height = 196.0

    let slots: [TimeSlot]
    let axis: TimeAxis
    /// The address of the requests in a part of the window.
    let requests: (TimeWindow) -> PageAddress

    var html: HTML {
        ChartPanel(
            id: "h-sides", title: "Where the time went", note: "mean ms",
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
                return SideStyle.bar(side, x: place.barFrom, y: to, width: place.barWidth, height: from - to)
            })
    }

    private func title(_ slot: TimeSlot, _ means: SideMeans?) -> String {
        let time = ClockText.range(slot.window, in: axis.window)
        guard let means else { return "\(time): \(slot.group.isEmpty ? "no requests" : "not measured")" }
        return "\(time), means: "
            + PhaseSide.allCases.map { "\(SideStyle.name(of: $0)) \(FigureText.figure(means[$0])) ms" }.joined(
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

/// The mean time of requests by side, in milliseconds.
struct SideMeans: Sendable, Equatable {
    private let means: [PhaseSide: Double]
    /// The share of requests that opened a connection, 0...1.
    let connected: Double

    var sum: Double { means.values.reduce(0, +) }

    /// The means over all requests with known phases. A phase that a request did not have counts as no time, so the sides add
    /// up. Returns `nil` if no phases are known.
    init?(_ phases: PhaseTotals) {
        guard let count = RequestPhase.allCases.map({ phases[$0].count }).max(), count > 0 else { return nil }
        func mean(_ phase: RequestPhase) -> Double { phases[phase].seconds * 1000 / Double(count) }
        means = Dictionary(
            RequestPhase.allCases.map { (PhaseSide($0), mean($0)) }, uniquingKeysWith: +)
        connected = Double(phases[.connect].count) / Double(count)
    }

    subscript(side: PhaseSide) -> Double { means[side] ?? 0 }
}

/// A figure of a service's processes over time, as one of several small charts of the same kind.
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
    /// The address of the requests in a part of the window.
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
        let ranges = shown.compactMap { line in
            RangeText.text(line.figures, unit.name.isEmpty ? "" : " \(unit.name)", figure: unit.text).map {
                "\(line.label) \($0)"
            }
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

/// The requests of a part of a window.
struct TimeSlot: Sendable {
    var window: TimeWindow
    var group: RequestGroup
    /// `nil` if there are no requests.
    private(set) var measures: RequestMeasures?

    /// - Parameter dataSince: see ``StatisticsAnswer/dataSince``.
    init(_ window: TimeWindow, _ group: RequestGroup, dataSince: UnixNanoseconds? = nil) {
        (self.window, self.group) = (window, group)
        measures = group.isEmpty ? nil : group.measures(seconds: window.since(dataSince).seconds)
    }

    /// Returns the slots of an answer, each with the requests of some groups.
    ///
    /// A slot that the window cuts to less than half is joined to its neighbour (``SlotGrid/blocks``). A rate over a few seconds
    /// would mean nothing, because senders report every ten seconds or less often.
    ///
    /// - Parameters:
    ///   - rows: the indexes of the groups.
    ///   - dataSince: see ``StatisticsAnswer/dataSince``.
    static func all(
        of rows: some Collection<Int>, in slots: GroupSlots, dataSince: UnixNanoseconds? = nil
    ) -> [TimeSlot] {
        slots.grid.blocks.map { block in
            TimeSlot(
                slots.grid.window(ofSlots: block),
                rows.reduce(into: RequestGroup(values: [])) { sum, row in
                    for slot in block { sum.merge(slots.groups[row][slot]) }
                }, dataSince: dataSince)
        }
    }

    /// Returns the slot with the highest rate. Returns `nil` if a slot has no requests: a sender may report less often than once
    /// per slot, and then one slot has the requests of several.
    static func busiest(of slots: [TimeSlot]) -> TimeSlot? {
        let inner = slots.dropFirst().dropLast()
        guard inner.count > 1, inner.allSatisfy({ $0.measures != nil }), let length = inner.first?.window.length else {
            return nil
        }
        // The window cuts its first and last slots, but a sender's interval at an end counts fully. Dividing by the length of a
        // whole slot keeps the rate from being too high.
        let all = slots.map { $0.lasting(atLeast: length) }
        return all.max { ($0.measures?.perSecond ?? 0) < ($1.measures?.perSecond ?? 0) }
    }

    private func lasting(atLeast length: UInt64) -> TimeSlot {
        TimeSlot(TimeWindow(from: window.from, to: window.from + max(length, window.length)), group)
    }
}
