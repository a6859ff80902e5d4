import MartletReports
import MartletStorage
import MartletTelemetry

/// The rows of the list, each of which opens its request.
struct RequestRows {
    /// Bytes of a name in a row at most.
    private static let nameBytes = 200
    /// Digits of a trace's id in a row.
    private static let traceDigits = 8

    let list: RequestList
    private var visit: Visit { list.visit }
    private var report: RequestsReport { list.report }

    var html: HTML {
        HTML(
            "div",
            [
                .class(list.isLive ? "scroll live" : "scroll"), Attribute("tabindex", "0"), .role("region"),
                Attribute("aria-labelledby", "h-requests"),
            ] + (list.isLive ? [Attribute("data-live")] : []),
            content: element("table", .class("grid cards list"), .role("table")) {
                DataTable.head { titles }
                DataTable.body { for request in report.requests { row(request) } }
            })
    }

    private var titles: HTML {
        HTML.joined([
            title("first", "Time", .time), DataTable.title("wide", "Request"), DataTable.title("", "Status"),
            title("num", "Duration ms", .duration), DataTable.title("ph", "On whose side"),
            DataTable.title("", "Service"), DataTable.title("", "Host"), DataTable.title("", "Trace"),
        ])
    }

    /// A title that sorts by its column, and the other way if it is the order already.
    private func title(_ name: String, _ text: String, _ key: RequestsQuery.Order.Key) -> HTML {
        let order = list.order
        let isCurrent = order.key == key
        let address = visit.here.with([
            (.sort, key.rawValue), (.ascending, isCurrent && !order.ascending ? "true" : nil), (.before, nil),
            (.live, nil),
        ])
        let sorted = isCurrent ? [Attribute("aria-sort", order.ascending ? "ascending" : "descending")] : []
        return HTML(
            "th", [Attribute("scope", "col"), .role("columnheader"), .class(name)] + sorted,
            content: link(address) {
                text
                if isCurrent { (order.ascending ? Icon.up : .down).html }
            })
    }

    private func row(_ request: RequestSummary) -> HTML {
        let address = visit.scoped(RequestPage.address(of: request.id))
        return DataTable.row {
            DataTable.name {
                link(address, .class("name")) {
                    element("time", Attribute("datetime", request.time)) {
                        RequestsTable.time(of: request, in: report)
                    }
                }
            }
            DataTable.cell("request", "wide") {
                link(address, .class("name")) {
                    element("span", .class("method")) { LongText.html(request.method, atMost: Self.nameBytes) }
                    element("span", .class("tpl")) { LongText.html(request.path, atMost: Self.nameBytes) }
                }
            }
            DataTable.cell("status", "outcome") { RequestOutcomeMark.html(request, atMost: Self.nameBytes) }
            DataTable.cell("duration ms", "num") { Figure.milliseconds(request.duration) }
            DataTable.cell("on whose side", "ph") {
                PhaseStrip(request.phases, duration: request.duration).html(longest: longest)
            }
            place(of: request)
        }
    }

    private func place(of request: RequestSummary) -> HTML {
        HTML.joined([
            DataTable.cell("service") {
                link(visit.address(ofService: request.service)) {
                    LongText.html(request.service, atMost: Self.nameBytes)
                }
                if request.kind == .server { element("small") { " served" } }
            },
            DataTable.cell("host", "host") { LongText.html(request.host, atMost: Self.nameBytes) },
            DataTable.cell("trace") {
                link(visit.scoped(TracePage.address(of: request.traceID)), .class("mono")) {
                    String(request.traceID.prefix(Self.traceDigits))
                }
            },
        ])
    }

    private var longest: Double { report.requests.map(\.duration).max() ?? 0 }
}

extension RequestSummary {
    /// The path and the query of the address; the endpoint if the sender does not tell the address.
    fileprivate var path: String {
        guard let url, let scheme = url.range(of: "://") else { return endpoint }
        return url[scheme.upperBound...].firstIndex(of: "/").map { String(url[$0...]) } ?? endpoint
    }
}
