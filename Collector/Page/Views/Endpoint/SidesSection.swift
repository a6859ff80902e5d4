import MartletReports
import MartletStorage
import MartletTelemetry

/// Where the time of an endpoint's requests went: over time, and in the whole window compared with the one before.
struct SidesSection {
    /// The smallest change of the mean time that is broken down by cause, as a share of the earlier time.
    private static let leastChange = 0.1

    let endpoint: Endpoint

    var html: HTML {
        let means = SideMeans(endpoint.requests.statistics.phases)
        guard let means else { return .none }
        return element("div", .class("two uneven")) {
            SidesChart(slots: endpoint.totals.slots, axis: endpoint.axis, requests: endpoint.requests(in:)).html
            table(means, before: endpoint.before.flatMap { SideMeans($0.statistics.phases) })
        }
    }

    private func table(_ means: SideMeans, before: SideMeans?) -> HTML {
        element("section", .class("panel"), Attribute("aria-labelledby", "h-side")) {
            element("h2", .id("h-side")) { title(means, before) }
            element(
                "div", .class("scroll"), Attribute("tabindex", "0"), .role("region"),
                Attribute("aria-labelledby", "h-side")
            ) {
                element("table", .class("grid sides")) {
                    element("thead") {
                        element("tr") {
                            element("th", Attribute("scope", "col")) { "Side" }
                            for title in ["Mean ms", "Was", "Change", "Of the change"] {
                                element("th", Attribute("scope", "col"), .class("num")) { title }
                            }
                        }
                    }
                    element("tbody") {
                        for side in PhaseSide.allCases.reversed() {
                            row(means[side], before?[side], change(means, before)) { name(side) }
                        }
                    }
                    element("tfoot") { row(means.sum, before?.sum, change(means, before)) { HTML("All") } }
                }
            }
            element("p", .class("hint")) { connected(means, before) }
        }
    }

    private func title(_ means: SideMeans, _ before: SideMeans?) -> String {
        guard let change = change(means, before) else { return "Mean time by side" }
        let time = "\(FigureText.figure(abs(change))) ms"
        return change > 0 ? "Where the \(time) came from" : "Where \(time) was saved"
    }

    /// The difference of the mean times; `nil` if it is too small to break down.
    private func change(_ means: SideMeans, _ before: SideMeans?) -> Double? {
        guard let before, abs(means.sum - before.sum) > Self.leastChange * before.sum else { return nil }
        return means.sum - before.sum
    }

    private func name(_ side: PhaseSide) -> HTML {
        let key = ChartPanel.Key.side(side)
        return HTML.joined([
            element("span", .class("key")) {
                key.sign
                key.name.capitalizedFirst
            },
            element("span", .class("sub")) {
                RequestPhase.allCases.filter { PhaseSide($0) == side }.map { $0.rawValue.replacing("_", with: " ") }
                    .joined(separator: ", ")
            },
        ])
    }

    private func row(_ mean: Double, _ before: Double?, _ change: Double?, name: () -> HTML) -> HTML {
        element("tr") {
            element("th", Attribute("scope", "row"), content: name)
            for text in [
                FigureText.fixed(mean, 1), before.map { FigureText.fixed($0, 1) } ?? "",
                before.map { ChangeText.signed(mean - $0, digits: 1) } ?? "", share(mean, before, of: change),
            ] {
                element("td", .class("num")) { text }
            }
        }
    }

    private func share(_ mean: Double, _ before: Double?, of change: Double?) -> String {
        guard let before, let change else { return "" }
        return ChangeText.signed((mean - before) / change * 100, digits: 1) + " %"
    }

    private func connected(_ means: SideMeans, _ before: SideMeans?) -> String {
        let share = "\(FigureText.fixed(means.connected * 100, 1)) % of requests opened a new connection"
        guard let before else { return share }
        return
            "\(share), compared with \(FigureText.fixed(before.connected * 100, 1)) % in the \(endpoint.windowBefore.text)"
    }
}

/// The main figures of an endpoint, compared with those of the window before.
struct BeforeSection {
    let endpoint: Endpoint
    let measures: RequestMeasures

    var html: HTML {
        element("section", Attribute("aria-labelledby", "h-before")) {
            element("div", .class("bar-head")) {
                element("h2", .id("h-before")) { "Compared with the \(endpoint.windowBefore.text)" }
            }
            if let before = endpoint.measuresBefore {
                table(before)
                command
            } else {
                element("p", .class("hint")) { nothing }
            }
        }
    }

    private var nothing: String {
        endpoint.before == nil
            ? "The figures of the \(endpoint.windowBefore.text) are stored too coarsely to be compared."
            : "There were no requests in the \(endpoint.windowBefore.text)."
    }

    private func table(_ before: RequestMeasures) -> HTML {
        DataTable.html("grid cards compare", heading: "h-before") {
            DataTable.head {
                DataTable.title("first", "Figure")
                for title in [endpoint.windowBefore.title, "This window", "Change"] {
                    DataTable.title("num", title)
                }
            }
            DataTable.body {
                row(
                    "Requests", FigureText.grouped(before.count), FigureText.grouped(measures.count), "",
                    ChangeText.ratio(measures.count, before.count))
                row(
                    "Failed", FigureText.percent(before.failures.rate), FigureText.percent(measures.failures.rate),
                    " %",
                    ChangeText.points(measures.failures.rate, before.failures.rate))
                quantile("p50", before.latency.p50, measures.latency.p50)
                quantile("p95", before.latency.p95, measures.latency.p95)
                quantile("p99", before.latency.p99, measures.latency.p99)
            }
        }
    }

    /// The report on each of the two windows.
    private var command: HTML {
        guard let window = endpoint.timeBefore?.inWholeSeconds else { return .none }
        var before = ReportParameters()
        before.add(.since, TimeText.exact(window.from))
        before.add(.until, TimeText.exact(window.to))
        for (name, value) in endpoint.selection(leavingOut: [.since, .until]).values { before.add(name, value) }
        before.add(.by, Dimension.kind.rawValue)
        var now = endpoint.selection()
        now.add(.by, Dimension.kind.rawValue)
        return CommandLine(
            endpoint.pageRequest,
            reports: [("JSON of the \(endpoint.windowBefore.text)", before), ("JSON of this window", now)]
        ).html
    }

    private func quantile(_ name: String, _ before: Double, _ now: Double) -> HTML {
        row(name, FigureText.figure(before), FigureText.figure(now), " ms", ChangeText.ratio(now, before))
    }

    private func row(_ name: String, _ before: String, _ now: String, _ unit: String, _ change: String) -> HTML {
        DataTable.row {
            DataTable.name { element("span", .class("tpl")) { name } }
            DataTable.cell(endpoint.windowBefore.text, "num") { before + unit }
            DataTable.cell("this window", "num") {
                element("b") { now }
                unit
            }
            DataTable.cell("change", "num") { change }
        }
    }
}
