import MartletReports
import MartletStorage
import MartletTelemetry

/// The failures of an endpoint by status and error.
struct FailuresTable {
    let endpoint: Endpoint
    private var list: FailureList { endpoint.failures }
    private var failed: UInt64 { endpoint.requests.failed.requests }

    var html: HTML {
        element("section", Attribute("aria-labelledby", "h-errors")) {
            element("div", .class("bar-head")) {
                element("h2", .id("h-errors")) {
                    "Errors "
                    element("span", .class("count")) { FigureText.grouped(failed) }
                }
            }
            if list.rows.isEmpty {
                element("p", .class("hint")) {
                    "None of \(FigureText.counted(endpoint.requests.count, "request")) failed."
                }
            } else {
                table
            }
            hints
        }
    }

    private var table: HTML {
        DataTable.html("grid cards errors", heading: "h-errors") {
            DataTable.head {
                DataTable.title("first", "Error")
                for title in [
                    "Requests", "Of failures %", endpoint.windowBefore.title, "First seen", "Last seen",
                ] {
                    DataTable.title("num", title)
                }
            }
            DataTable.body { for row in list.rows { html(row) } }
            DataTable.foot {
                DataTable.row {
                    DataTable.name { "All failures" }
                    DataTable.cell("requests", "num") {
                        link(endpoint.requestsAddress.with(.failed, "true")) { FigureText.grouped(failed) }
                    }
                    DataTable.cell("of failures %", "num") { "100.0" }
                    DataTable.cell(endpoint.windowBefore.text, "num") {
                        list.requestsBefore == nil ? "" : FigureText.grouped(list.failedBefore)
                    }
                    DataTable.cell("first seen", "num") {}
                    DataTable.cell("last seen", "num") {}
                }
            }
        }
    }

    private func html(_ row: FailureList.Row) -> HTML {
        let share = Double(row.count) / Double(max(1, failed))
        return DataTable.row {
            DataTable.name {
                link(address(row), .class("name")) { element("span", .class("tpl")) { row.name } }
                if list.isNew(row) {
                    " "
                    element("span", .class("tag new")) { "new" }
                }
                if let meaning = FailureText.meaning(status: row.status, error: row.error) {
                    element("span", .class("sub")) { meaning }
                }
            }
            DataTable.cell("requests", "num") { link(address(row)) { FigureText.grouped(row.count) } }
            DataTable.cell("of failures %", "num barred") {
                element("span") { FigureText.fixed(share * 100, 1) }
                ShareBar.html(share, isBad: true)
            }
            DataTable.cell(endpoint.windowBefore.text, "num") { before(row) }
            DataTable.cell("first seen", "num") { first(row) }
            DataTable.cell("last seen", "num") { moment(row.last) }
        }
    }

    private func before(_ row: FailureList.Row) -> String {
        guard let requests = list.requestsBefore else { return "" }
        return list.isNew(row) ? "0 of \(FigureText.grouped(requests))" : FigureText.grouped(row.before)
    }

    private func first(_ row: FailureList.Row) -> String {
        row.before > 0 ? "earlier" : moment(row.first)
    }

    private func moment(_ time: UnixNanoseconds?) -> String {
        time.map { ClockText.moment($0, in: endpoint.window) } ?? ""
    }

    private func address(_ row: FailureList.Row) -> PageAddress {
        endpoint.requestsAddress.with(
            [(.failed, "true"), (.status, row.status ?? ""), (.error, row.error ?? "")])
    }

    @HTMLBuilder private var hints: HTML {
        if !list.rows.isEmpty, let precision = list.precision {
            element("p", .class("hint")) {
                "First and last seen are known to \(FigureText.age(UInt64(precision))): the ends of the intervals that senders report."
            }
        }
        if list.more > 0 {
            element("p", .class("hint")) {
                "The \(list.rows.count) most frequent; at most \(FigureText.grouped(UInt64(list.more))) more are left out."
            }
        }
        if let requests = list.requestsBefore, list.rows.contains(where: list.isNew) {
            element("p", .class("hint")) {
                "New: 0 of the \(FigureText.counted(requests, "request")) in the \(endpoint.windowBefore.text) "
                    + "failed in this way, so its rate then was below \(FigureText.percent(list.boundOfNew)) %."
            }
        }
        if let cancelled = endpoint.totals.measures?.failures.cancelled, cancelled > 0 {
            element("p", .class("hint")) {
                "Cancelled by the caller, which is no failure: \(FigureText.counted(cancelled, "request"))."
            }
        }
    }
}
