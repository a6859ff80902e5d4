import MartletReports
import MartletStorage
import MartletTelemetry

/// The figures of all requests of one kind, in total and over time.
struct Totals: Sendable {
    /// `nil` if there are no requests.
    var measures: RequestMeasures?
    var slots: [TimeSlot]
    /// The time from which the rate is computed; `nil` if it is the window's beginning.
    var ratesSince: UnixNanoseconds?

    /// - Parameter answer: groups by several dimensions, the last of which is the kind.
    init(of kind: RequestKind, in answer: StatisticsAnswer) {
        measures = answer.totals[kind]?.measures(seconds: answer.ratedWindow.seconds)
        let rows = answer.groups.indices.filter { answer.groups[$0].values.last == kind.rawValue }
        slots = answer.slots.map { TimeSlot.all(of: rows, in: $0, dataSince: answer.dataSince) } ?? []
        ratesSince = answer.ratedWindow == answer.window ? nil : answer.ratedWindow.from
    }
}

/// Six figures with their lines over time. Each links to its requests.
struct TotalsStrip {
    let totals: Totals
    /// The figures of the window before; `nil` if there is no comparison, or if there were no requests.
    var before: RequestMeasures?
    let requests: PageAddress
    /// The failure rates that are possible with the missing requests; `nil` if none is missing.
    var bounds: FailureBounds?

    var html: HTML {
        element("ul", .class("totals")) {
            if let measures = totals.measures {
                item(
                    "Requests", FigureText.grouped(measures.count), "",
                    note: before.map {
                        "was \(FigureText.grouped($0.count)), \(ChangeText.ratio(measures.count, $0.count))"
                    },
                    over: \.perSecond)
                item("Rate", FigureText.figure(measures.perSecond), " /s", note: rateNote, over: \.perSecond)
                item(
                    "Failed", FigureText.percent(measures.failures.rate), " %",
                    note: bounds.map { "\($0.text) %" }
                        ?? FigureText.counted(measures.failures.count, "request")
                        + (before.map { ", was \(FigureText.percent($0.failures.rate)) %" } ?? ""),
                    isBad: measures.failures.count > 0, address: requests.with(.failed, "true"),
                    over: { $0.failures.rate * 100 })
                quantile("p50", \.latency.p50, of: measures)
                quantile("p95", \.latency.p95, of: measures)
                quantile("p99", \.latency.p99, of: measures)
            } else {
                element("li") {
                    element("span", .class("k")) { "Requests" }
                    element("span", .class("v")) { "0" }
                }
            }
        }
    }

    private func quantile(
        _ title: String, _ figure: (RequestMeasures) -> Double, of measures: RequestMeasures
    ) -> HTML {
        let value = figure(measures)
        let (number, unit) = value < 1000 ? (FigureText.figure(value), " ms") : (FigureText.figure(value / 1000), " s")
        return item(
            title, number, unit,
            note: before.map { "was \(Figure.duration(figure($0))), \(ChangeText.ratio(value, figure($0)))" },
            address: requests.with(.sort, "duration"), over: figure)
    }

    private func item(
        _ title: String, _ value: String, _ unit: String, note: String? = nil, isBad: Bool = false,
        address: PageAddress? = nil, over figure: (RequestMeasures) -> Double
    ) -> HTML {
        let figures = totals.slots.map { $0.measures.map(figure) }
        return element("li", isBad ? [.class("bad")] : []) {
            link(address ?? requests) {
                element("span", .class("k")) { title }
                element("span", .class("v")) {
                    value
                    element("small") { unit }
                }
            }
            TrendLine.html(
                figures, height: 26,
                label: "\(title) over time"
                    + (RangeText.text(figures, unit == " s" ? " ms" : unit).map { ", \($0)" } ?? ""))
            if let note { element("span", .class("was")) { note } }
        }
    }

    private var rateNote: String? {
        let since = totals.ratesSince.map { "since \(ClockText.time($0)), when the first data arrived" }
        let notes = [since, busiest].compactMap(\.self)
        return notes.isEmpty ? nil : notes.joined(separator: "; ")
    }

    private var busiest: String? {
        guard let slot = TimeSlot.busiest(of: totals.slots), let rate = slot.measures?.perSecond else { return nil }
        return "peak \(FigureText.figure(rate)) /s at \(ClockText.time(slot.window.from))"
    }
}
