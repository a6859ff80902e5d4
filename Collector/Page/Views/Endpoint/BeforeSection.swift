import MartletReports
import MartletStorage

/// The main figures of an endpoint beside those of the window before.
struct BeforeSection {
    let endpoint: Endpoint
    let measures: RequestMeasures

    var html: HTML {
        element("section", Attribute("aria-labelledby", "h-before")) {
            element("div", .class("bar-head")) {
                element("h2", .id("h-before")) { "Against the \(endpoint.windowBefore.text)" }
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
            ? "The figures of the \(endpoint.windowBefore.text) are kept too coarsely to be compared."
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

    /// The report of either window.
    private var command: HTML {
        guard let window = endpoint.timeBefore?.inWholeSeconds else { return .none }
        var before = ReportParameters()
        before.add(.since, TimeText.format(window.from))
        before.add(.until, TimeText.format(window.to))
        for (name, value) in endpoint.selection(leavingOut: [.since, .until]).values { before.add(name, value) }
        before.add(.by, Dimension.kind.rawValue)
        var now = endpoint.selection()
        now.add(.by, Dimension.kind.rawValue)
        return CommandLine(
            endpoint.visit,
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
