import MartletReports
import MartletStorage
import MartletTelemetry

/// The edges of the map as a table.
struct EdgesTable {
    let map: ServiceMap

    var html: HTML {
        element("section", Attribute("aria-labelledby", "h-edges")) {
            element("div", .class("bar-head")) {
                element("h2", .id("h-edges")) {
                    "Edges "
                    element("span", .class("count")) { FigureText.grouped(UInt64(map.edgeCount)) }
                }
            }
            DataTable.html("grid cards edges-t", heading: "h-edges") {
                DataTable.head {
                    DataTable.title("first", "Edge")
                    for title in [
                        "Sent", "Arrived", "Lost on the way", "Failed, caller %", "Failed, server %", "p95, caller ms",
                        "p95, server ms",
                    ] { DataTable.title("num", title) }
                }
                DataTable.body { for edge in map.edges { row(edge) } }
            }
            if map.edges.count < map.edgeCount {
                element("p", .class("hint")) {
                    "The \(FigureText.grouped(UInt64(map.edges.count))) with the most requests."
                }
            }
            commandLine
        }
    }

    private func row(_ edge: CallEdge) -> HTML {
        let addresses = EdgeAddresses(visit: map.visit, edge: edge)
        return DataTable.row {
            DataTable.name {
                link(addresses.overview, .class("name")) {
                    element("span", .class("tpl")) { "\(edge.from.name) → \(edge.to.name)" }
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
        let host = HostName.text(edge.host)
        guard edge.isOfSpans else { return host }
        return edge.servedHost.isEmpty || edge.servedHost == edge.host
            ? "\(host), as spans showed" : "\(host), served as \(edge.servedHost), as spans showed"
    }

    @HTMLBuilder private func arrived(_ edge: CallEdge, _ addresses: EdgeAddresses) -> HTML {
        if let arrived = edge.arrived {
            link(addresses.arrived) { FigureText.grouped(arrived.count) }
            if edge.callers > 1 {
                element("span", .class("sub num")) {
                    "of \(FigureText.grouped(edge.sentByAll)) by \(edge.callers) callers"
                }
            }
        } else {
            unknown
        }
    }

    @HTMLBuilder private func lost(_ edge: CallEdge, _ addresses: EdgeAddresses) -> HTML {
        if let sent = edge.sent {
            if sent.lost > 0 { link(addresses.lost) { Figure.fault(sent.lost) } }
            if sent.unanswered > 0 {
                element("span", .class(sent.lost > 0 ? "sub num" : "zero")) {
                    sent.lost > 0
                        ? "and up to \(FigureText.grouped(sent.unanswered)) without an answer"
                        : "not known of \(FigureText.grouped(sent.unanswered))"
                }
            } else if sent.lost == 0, edge.uncounted == 0 {
                Figure.fault(0)
            }
            if edge.uncounted > 0 {
                element("span", .class("sub num")) {
                    "\(FigureText.grouped(edge.uncounted)) more were sent than arrived"
                }
            }
        } else {
            unknown
        }
    }

    private func rate(_ figures: CallFigures?, _ address: PageAddress) -> HTML {
        guard let figures else { return dash }
        return link(address.with(.failed, "true")) { FigureText.percent(figures.failureRate) }
    }

    private func p95(_ figures: CallFigures?) -> HTML { figures?.p95.map(Figure.milliseconds) ?? dash }

    private var unknown: HTML { element("span", .class("zero")) { "not known" } }
    private var dash: HTML { element("span", .class("zero")) { "–" } }

    /// The counts of the chosen services, and those of all, among which the other ends of their edges are.
    private var commandLine: HTML {
        let own = parameters(leavingOut: [])
        guard map.visit.filter.wanted[.service] != nil else { return CommandLine(report: own).html }
        let all = parameters(leavingOut: [.service])
        return CommandLine(reports: [("JSON", own), ("JSON of all services", all)]).html
    }

    private func parameters(leavingOut names: Set<PageParameter>) -> ReportParameters {
        var parameters = map.visit.parameters(for: ReportParameter.self, leavingOut: names)
        for dimension in [.service, .kind, .host] as [Dimension] { parameters.add(.by, dimension.rawValue) }
        return parameters
    }
}

/// The addresses behind the figures of an edge.
struct EdgeAddresses {
    let visit: Visit
    let edge: CallEdge

    var overview: PageAddress {
        let address = visit.address(of: .overview)
        guard let service = edge.from.service else { return address.with(.service, edge.to.service) }
        return address.with([(.service, service), (.host, edge.host)])
    }

    var sent: PageAddress { requests(of: edge.from, .client, edge.host) }
    var arrived: PageAddress { requests(of: edge.to, .server, edge.servedHost) }

    var lost: PageAddress { (edge.sent?.errors ?? []).sorted().reduce(sent) { $0.adding(.error, $1) } }

    private func requests(of place: MapPlace, _ kind: RequestKind, _ host: String) -> PageAddress {
        visit.scoped(PageAddress("/requests")).with([
            (.service, place.service), (.kind, kind.rawValue), (.host, host),
        ])
    }
}
