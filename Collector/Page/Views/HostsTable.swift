import MartletReports
import MartletStorage
import MartletTelemetry

/// The called hosts, if there is more than one. Each links to its endpoints.
struct HostsTable {
    /// The maximum number of services in a cell.
    private static let maxNamed = 3

    let pageRequest: PageRequest
    let called: CalledHosts

    @HTMLBuilder var html: HTML {
        if called.count > 1 {
            element("section", Attribute("aria-labelledby", "h-hosts")) {
                element("div", .class("bar-head")) {
                    element("h2", .id("h-hosts")) {
                        "Hosts called "
                        element("span", .class("count")) { FigureText.grouped(UInt64(called.count)) }
                    }
                    if called.hosts.count < called.count {
                        element("p", .class("aside")) {
                            "The \(called.hosts.count) that took the most time. "
                            link(pageRequest.here.with(.top, String(called.count))) { "Show all" }
                        }
                    }
                }
                DataTable.html("grid cards hosts", heading: "h-hosts") {
                    DataTable.head {
                        DataTable.title("first", "Host")
                        DataTable.title("", "Called by")
                        for title in ["Count", "Failed %", "p95 ms"] { DataTable.title("num", title) }
                    }
                    DataTable.body { for host in called.hosts { row(host) } }
                }
                CommandLine(pageRequest, report: parameters).html
            }
        }
    }

    private var parameters: ReportParameters {
        var parameters = pageRequest.report(of: .client, by: [.host])
        if called.hosts.count < called.count { parameters.add(.top, String(called.hosts.count)) }
        return parameters
    }

    private func row(_ host: CalledHosts.Host) -> HTML {
        let requests = pageRequest.countedRequests.with([(.kind, RequestKind.client.rawValue), (.host, host.name)])
        return DataTable.row {
            DataTable.name {
                link(pageRequest.here.with([(.host, host.name), (.kind, RequestKind.client.rawValue)]), .class("name"))
                {
                    element("span", .class("tpl")) { HostName.text(host.name) }
                }
            }
            DataTable.cell("called by", "host") { pageRequest.services(host.services, atMost: Self.maxNamed) }
            DataTable.cell("count", "num") { link(requests) { FigureText.grouped(host.measures.count) } }
            DataTable.cell("failed %", "num") {
                link(requests.with(.failed, "true")) { FigureText.percent(host.measures.failures.rate) }
            }
            DataTable.cell("p95 ms", "num") {
                link(requests.with(.sort, "duration")) { Figure.milliseconds(host.measures.latency.p95) }
            }
        }
    }
}

/// The called hosts.
struct CalledHosts: Sendable {
    struct Host: Sendable {
        var name: String
        var services: [String]
        var measures: RequestMeasures
    }

    /// The number of rows, unless the address sets another.
    private static let maxHosts = 20

    /// The hosts that took the most time.
    let hosts: [Host]
    let count: Int

    /// - Parameters:
    ///   - answer: groups by host and service.
    ///   - wanted: the number of rows in the address; `nil` if it has none.
    init(_ answer: StatisticsAnswer, wanted: Int?) {
        var (groups, services) = ([String: RequestGroup](), [String: Set<String>]())
        for group in answer.groups {
            let host = (group.values.first ?? nil) ?? ""
            groups[host, default: RequestGroup(values: [host])].merge(group)
            services[host, default: []].insert((group.values.last ?? nil) ?? "")
        }
        count = groups.count
        hosts = GroupOrder().first(max(Self.maxHosts, wanted ?? 0), of: Array(groups.values)).map { group in
            let name = (group.values.first ?? nil) ?? ""
            return Host(
                name: name, services: (services[name] ?? []).sorted(),
                measures: group.measures(seconds: answer.ratedWindow.seconds))
        }
    }
}
