import MartletReports
import MartletStorage
import MartletTelemetry

/// The services of the overview, with their incoming and outgoing requests.
struct ServicesTable {
    let pageRequest: PageRequest
    /// The services that took the most time.
    let services: [OverviewService]
    /// The number of all services.
    let count: Int
    let incompleteness: Incompleteness

    var html: HTML {
        element("section", Attribute("aria-labelledby", "h-services")) {
            element("div", .class("bar-head")) {
                element("h2", .id("h-services")) {
                    "Services "
                    element("span", .class("count")) { FigureText.grouped(UInt64(count)) }
                }
                if services.count < count {
                    element("p", .class("aside")) {
                        "The \(services.count) that took the most time. "
                        link(pageRequest.here.with(.top, String(count))) { "Show all" }
                    }
                }
            }
            DataTable.html("grid cards services", heading: "h-services") {
                element("thead", .role("rowgroup")) {
                    groups
                    DataTable.row { titles }
                }
                DataTable.body { for service in services { row(service) } }
            }
            CommandLine(pageRequest, report: pageRequest.report(of: nil, by: [.service, .kind])).html
        }
    }

    private var groups: HTML {
        element("tr", .role("row"), .class("over")) {
            element("td", Attribute("colspan", "2")) {}
            element("th", Attribute("scope", "colgroup"), Attribute("colspan", "6"), .class("lead")) {
                "Incoming requests"
            }
            element("th", Attribute("scope", "colgroup"), Attribute("colspan", "5"), .class("lead")) {
                "Outgoing requests"
            }
            element("td") {}
        }
    }

    private var titles: HTML {
        HTML.joined([
            DataTable.title("first", "Service"), DataTable.title("num", "Instances"),
            DataTable.title("num lead", "Count"), DataTable.title("num", "Per s"), DataTable.title("num", "Failed %"),
            DataTable.title("num", "p50 ms"), DataTable.title("num", "p95 ms"), DataTable.title("trend", "p95 trend"),
            DataTable.title("num lead", "Count"), DataTable.title("num", "Per s"), DataTable.title("num", "Failed %"),
            DataTable.title("num", "p50 ms"), DataTable.title("num", "p95 ms"), DataTable.title("num", "Last seen"),
        ])
    }

    private func row(_ service: OverviewService) -> HTML {
        DataTable.row {
            DataTable.name {
                link(pageRequest.address(ofService: service.name), .class("name")) {
                    element("span", .class("tpl")) { service.name }
                }
                versions(service)
            }
            DataTable.cell("instances", "num") {
                link(pageRequest.address(of: .agents).with(.service, service.name)) {
                    service.instances.map(String.init) ?? "unknown"
                }
            }
            side(service, service.served, .server, "incoming")
            DataTable.cell("incoming, p95 trend", "trend") {
                if let served = service.served {
                    TrendLine.html(served.trend, height: 22, label: "\(service.name): p95 of incoming requests")
                }
            }
            side(service, service.made, .client, "outgoing")
            DataTable.cell("last seen", "num") {
                if let time = service.lastSeen {
                    FigureText.age((max(pageRequest.now, time) - time) / 1_000_000_000, isShort: true)
                }
            }
        }
    }

    private func versions(_ service: OverviewService) -> HTML {
        guard !service.versions.isEmpty else { return .none }
        return element("span", .class("sub")) {
            "version "
            for (index, version) in service.versions.enumerated() {
                (index > 0 ? ", " : "") + version.name
                if let time = version.new {
                    " "
                    element("span", .class("tag new")) { "new \(TimeText.format(time).dropFirst(11).prefix(5))" }
                }
            }
        }
    }

    private func side(
        _ service: OverviewService, _ side: OverviewService.Side?, _ kind: RequestKind, _ word: String
    ) -> HTML {
        guard let measures = side?.measures else {
            return HTML.joined(
                [DataTable.cell(word, "num lead") { element("span", .class("zero")) { "none" } }]
                    + ["per s", "failed %", "p50 ms", "p95 ms"].map { DataTable.cell("\(word), \($0)", "num") {} })
        }
        let requests = pageRequest.countedRequests.with([(.service, service.name), (.kind, kind.rawValue)])
        return HTML.joined([
            DataTable.cell(word, "num lead") { link(requests) { FigureText.grouped(measures.count) } },
            DataTable.cell("\(word) per s", "num") { FigureText.figure(measures.perSecond) },
            DataTable.cell("\(word), failed %", "num") {
                link(requests.with(.failed, "true")) { FigureText.percent(measures.failures.rate) }
                IncompleteNotice.bounds(incompleteness.bounds(measures, of: service.name))
            },
            DataTable.cell("\(word), p50 ms", "num") { Figure.milliseconds(measures.latency.p50) },
            DataTable.cell("\(word), p95 ms", "num") { Figure.milliseconds(measures.latency.p95) },
        ])
    }
}

extension PageRequest {
    /// Returns the address of a service's page.
    func address(ofService name: String) -> PageAddress { scoped(.endpoint).with(.service, name) }

    /// Returns a service's name as a link to its page.
    func service(_ name: String) -> HTML {
        name.isEmpty ? .none : link(address(ofService: name)) { name }
    }

    /// Returns the first services of a list as links, and the number of the others.
    @HTMLBuilder func services(_ names: [String], atMost most: Int) -> HTML {
        for (index, name) in names.prefix(most).enumerated() {
            index == 0 ? "" : index == names.count - 1 ? " and " : ", "
            service(name)
        }
        names.count > most ? " and \(FigureText.grouped(UInt64(names.count - most))) more" : ""
    }
}
