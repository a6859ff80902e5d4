import MartletReports
import MartletStorage
import MartletTelemetry

/// The called hosts, if there is more than one, and their systems. Each links to its endpoints.
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
        var parameters = pageRequest.report(of: .client, by: called.hasSystems ? [.host, .system] : [.host])
        if called.hosts.count < called.count { parameters.add(.top, String(called.hosts.count)) }
        return parameters
    }

    private func row(_ host: CalledHosts.Host) -> HTML {
        let (kind, system) = (RequestKind.client.rawValue, called.systemFilter(of: host))
        func selecting(_ address: PageAddress) -> PageAddress { system.map { address.with(.system, $0) } ?? address }
        let requests = selecting(pageRequest.countedRequests.with([(.kind, kind), (.host, host.name)]))
        return DataTable.row {
            DataTable.name {
                link(selecting(pageRequest.here.with([(.host, host.name), (.kind, kind)])), .class("name")) {
                    element("span", .class("tpl")) { HostName.text(host.name) }
                }
                if let system = host.system { element("span", .class("sub")) { system } }
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

/// The called hosts. A host that is called as several systems is there once for each.
struct CalledHosts: Sendable {
    struct Host: Sendable {
        var name: String
        /// `nil` for HTTP.
        var system: String?
        var services: [String]
        var measures: RequestMeasures
    }

    /// The hosts that took the most time.
    let hosts: [Host]
    let count: Int
    /// The names of the hosts that are called as a system. Over HTTP they may be called too.
    private let ofSystems: Set<String>

    /// Whether a system is called, such as a database.
    var hasSystems: Bool { !ofSystems.isEmpty }

    /// Returns the value of the filter by system that selects the host's requests: empty for HTTP. `nil` if no filter is needed.
    func systemFilter(of host: Host) -> String? { host.system ?? (ofSystems.contains(host.name) ? "" : nil) }

    /// - Parameters:
    ///   - answer: groups by host and system, those that took the most time first.
    ///   - callers: groups by host, system and service.
    init(_ answer: StatisticsAnswer, callers: StatisticsAnswer) {
        var services: [[String?]: Set<String>] = [:]
        for group in callers.groups {
            services[Array(group.values.prefix(2)), default: []].insert(group.values[2] ?? "")
        }
        count = answer.groupCount
        ofSystems = Set(services.keys.filter { $0[1] != nil }.map { $0[0] ?? "" })
        hosts = answer.groups.map { group in
            Host(
                name: group.values[0] ?? "", system: group.values[1], services: (services[group.values] ?? []).sorted(),
                measures: group.measures(seconds: answer.ratedWindow.seconds))
        }
    }
}
