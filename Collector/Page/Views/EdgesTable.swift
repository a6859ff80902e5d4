import MartletReports
import MartletStorage
import MartletTelemetry

/// The edges of the map as a table.
struct EdgesTable {
    let map: ServiceMap

    private var report: MapReport { map.report }

    var html: HTML {
        element("section", Attribute("aria-labelledby", "h-edges")) {
            element("div", .class("bar-head")) {
                element("h2", .id("h-edges")) {
                    "Edges "
                    element("span", .class("count")) { FigureText.grouped(UInt64(report.edgeCount)) }
                }
            }
            DataTable.html("grid cards edges-t", heading: "h-edges") {
                DataTable.head {
                    DataTable.title("first", "Edge")
                    for title in [
                        "Sent", "Arrived", "Lost", "Failed, caller %", "Failed, server %", "p95, caller ms",
                        "p95, server ms",
                    ] { DataTable.title("num", title) }
                }
                DataTable.body { for edge in report.edges { row(edge) } }
            }
            if report.edges.count < report.edgeCount {
                element("p", .class("hint")) {
                    """
                    The first \(FigureText.grouped(UInt64(report.edges.count))): those with lost requests, then those with the \
                    most requests.
                    """
                }
            }
            CommandLine(mapOf: map.pageRequest).html
        }
    }

    private func row(_ edge: CallEdge) -> HTML {
        let addresses = EdgeAddresses(map: map, edge: edge)
        return DataTable.row {
            DataTable.name {
                link(addresses.overview, .class("name")) {
                    element("span", .class("tpl")) { "\(edge.caller.name) → \(edge.callee.name)" }
                }
                element("span", .class("sub")) { path(edge) }
            }
            DataTable.cell("sent", "num") {
                if let sent = edge.sent { link(addresses.sent) { FigureText.grouped(sent.count) } } else { unknown }
            }
            DataTable.cell("arrived", "num") { arrived(edge, addresses) }
            DataTable.cell("lost", "num") { lost(edge, addresses) }
            DataTable.cell("failed, caller %", "num") {
                rate(edge.sent, addresses.sent)
            }
            DataTable.cell("failed, server %", "num") { rate(edge.arrived, addresses.arrived) }
            DataTable.cell("p95, caller ms", "num") { p95(edge.sent) }
            DataTable.cell("p95, server ms", "num") { p95(edge.arrived) }
        }
    }

    private func path(_ edge: CallEdge) -> String {
        let host = HostName.text(edge.host, system: edge.system)
        guard edge.comesFromSpans else { return host }
        return host + (edge.otherHosts.map { ", served as \($0)" } ?? "") + ", according to spans"
    }

    @HTMLBuilder private func arrived(_ edge: CallEdge, _ addresses: EdgeAddresses) -> HTML {
        if let arrived = edge.arrived {
            link(addresses.arrived) { FigureText.grouped(arrived.count) }
            if edge.isShared, let sent = edge.sentByAll, let edges = edge.sharedBy {
                element("span", .class("sub num")) {
                    "of \(FigureText.grouped(sent)) in \(FigureText.counted(edges, "edge"))"
                }
            }
            if let others = edge.fromOutside, others > 0 {
                element("span", .class("sub num")) { "\(FigureText.grouped(others)) from unknown callers" }
            }
        } else {
            unknown
        }
    }

    @HTMLBuilder private func lost(_ edge: CallEdge, _ addresses: EdgeAddresses) -> HTML {
        if let lost = edge.lost, let unanswered = edge.unanswered {
            if lost > 0 { link(addresses.lost) { Figure.fault(lost) } }
            if unanswered > 0 {
                element("span", .class(lost > 0 ? "sub num" : "zero")) {
                    lost > 0
                        ? "and up to \(FigureText.grouped(unanswered)) without an answer"
                        : "unknown for \(FigureText.grouped(unanswered))"
                }
            } else if lost == 0, (edge.uncounted ?? 0) == 0 {
                Figure.fault(0)
            }
            if let uncounted = edge.uncounted, uncounted > 0 {
                element("span", .class("sub num")) { "\(FigureText.grouped(uncounted)) more were sent than arrived" }
            }
        } else {
            unknown
        }
    }

    private func rate(_ figures: CallFigures?, _ address: PageAddress) -> HTML {
        guard let figures else { return dash }
        return link(address.with(.failed, "true")) { FigureText.percent(figures.failures.rate) }
    }

    private func p95(_ figures: CallFigures?) -> HTML { (figures?.latency.p95).map(Figure.milliseconds) ?? dash }

    private var unknown: HTML { element("span", .class("zero")) { "unknown" } }
    private var dash: HTML { element("span", .class("zero")) { "–" } }
}

extension CommandLine {
    /// The map with a view's window and filters, as a command and as an API response.
    init(mapOf pageRequest: PageRequest) {
        let parameters = pageRequest.parameters(for: MapParameter.self, leavingOut: [.top])
        self.init(
            pageRequest, "map", parameters.commandFlags,
            formats: [("JSON", PageAddress("/api/v1/map", parameters.query))])
    }
}

/// The links behind the figures of an edge.
struct EdgeAddresses {
    private let pageRequest: PageRequest
    private let edge: CallEdge
    /// The filter by system; `nil` for none.
    private let system: String?

    init(map: ServiceMap, edge: CallEdge) {
        (pageRequest, self.edge, system) = (map.pageRequest, edge, edge.systemFilter(map.hostsOfSystems))
    }

    var overview: PageAddress {
        let address = pageRequest.address(of: .overview)
        guard let service = edge.caller.service else { return address.with(.service, edge.callee.service) }
        return address.with([(.service, service), (.host, edge.host), (.system, system)])
    }

    var sent: PageAddress { requests(of: edge.caller, .client, edge.host).with(.system, system) }
    var arrived: PageAddress {
        edge.servedHosts.dropFirst().reduce(
            requests(of: edge.callee, .server, edge.servedHosts.first ?? edge.host)
        ) { $0.adding(.host, $1) }
    }

    var lost: PageAddress { (edge.lostErrors ?? []).reduce(sent) { $0.adding(.error, $1) } }

    private func requests(of place: MapPlace, _ kind: RequestKind, _ host: String) -> PageAddress {
        pageRequest.scoped(.requests).with([
            (.service, place.service), (.kind, kind.rawValue), (.host, host),
        ])
    }
}
