import MartletReports
import MartletStorage
import MartletTelemetry

/// The calls between services, as each side counted them.
package struct ServiceMap: Sendable {
    /// The maximum number of edges in the picture, and in the table.
    static let (maxDrawn, maxListed) = (40, 1000)

    let pageRequest: PageRequest
    let facts: FrameData
    let calls: ServiceCalls
    /// The requests that each service served; for a service that served none, its outgoing requests.
    let services: [String: RequestMeasures]
    let agents: [AgentRecord]
    /// See ``MapReport/hostsOfSystems``.
    let hostsOfSystems: Set<String>
    /// `nil` if there is something to show.
    let empty: NoResultsView?

    /// - Throws: ``ParameterError``, ``TooManyGroups``, or the store's error.
    package init(_ pageRequest: PageRequest, in storage: some Storage) async throws {
        try pageRequest.refuseFilters(except: MapParameter.filters, of: "the map")
        self.pageRequest = pageRequest
        var facts = try await FrameData(pageRequest, in: storage)
        calls = try await ServiceCalls(
            MapQuery(window: pageRequest.window, filter: pageRequest.filter, limit: Self.maxListed), in: storage)
        services = calls.services()
        hostsOfSystems = calls.report.hostsOfSystems
        // The completeness covers both ends.
        facts.completeness = calls.report.completeness
        self.facts = facts
        var filter = pageRequest.filter
        filter.removeAll(.service)
        agents = try await storage.agents(seenSince: pageRequest.window.from, limit: AgentsReport.maxAgents).agents
            .filter { filter.matches($0.resource) }
        empty = calls.report.edges.isEmpty ? try await NoResultsView(pageRequest, in: storage) : nil
    }

    var report: MapReport { calls.report }
}

extension ServiceMap {
    package var html: HTML {
        let frame = PageFrame(pageRequest: pageRequest, facts: facts)
        let title = "Map: \(pageRequest.titleOfScope)"
        if let empty {
            return frame.document(title, view: .map, hasScope: empty.hasScope) {
                empty.html
                if empty.hasScope { CommandLine(mapOf: pageRequest).html }
            }
        }
        return frame.document(title, view: .map) {
            leadIn
            picture
            EdgesTable(map: self).html
        }
    }

    private var leadIn: HTML {
        element("section", .class("lead-in"), .label("The answer")) {
            element("h1") { report.sentence }
            element("p") { explanation }
        }
    }

    @HTMLBuilder private var explanation: HTML {
        if let worst = report.worst, let sent = worst.sent {
            "They could not connect: "
            link(EdgeAddresses(map: self, edge: worst).lost) {
                (worst.lostErrors ?? []).joined(separator: ", ")
            }
            ". \(worst.caller.name) sent \(FigureText.grouped(sent.count))"
            if let arrived = worst.arrived, !worst.isShared {
                ", \(worst.callee.name) received \(FigureText.grouped(arrived.count))"
            }
            "; each side counts separately. "
        } else {
            "Each side counts separately. "
        }
        "A request near an end of the window may be in only one of the counts. One without an answer may or may not have arrived."
    }

    private var picture: HTML {
        element("section", .class("panel flush"), Attribute("aria-labelledby", "h-map")) {
            element("div", .class("bar-head")) {
                element("h2", .id("h-map")) { "Who calls whom" }
                element("p", .class("legend")) {
                    """
                    At the start of an edge: its requests. Red: lost requests, or \(Int(CallEdge.failing * 100)) % failed or more. \
                    Dashed box: no agent seen there.
                    """
                }
            }
            element(
                "div", .class("scroll"), Attribute("tabindex", "0"), .role("region"),
                Attribute("aria-labelledby", "h-map")
            ) { MapTexts(map: self).html }
            if report.edgeCount > Self.maxDrawn {
                element("p", .class("hint")) {
                    """
                    \(Self.maxDrawn) of \(FigureText.grouped(UInt64(report.edgeCount))) edges: first those with lost requests, then \
                    those with the most requests.
                    """
                }
            }
        }
    }
}

/// The map's largest edges with their texts.
struct MapTexts {
    let map: ServiceMap

    var html: HTML {
        let edges = map.report.edges.prefix(ServiceMap.maxDrawn)
        let layout = MapLayout(edges.map { ($0.caller, $0.callee) })
        return MapPicture(
            layout: layout, labels: layout.boxes.map { label($0.place) }, edges: edges.map(label)
        ).html
    }

    private func label(_ edge: CallEdge) -> MapPicture.EdgeLabel {
        let lost = edge.lost ?? 0
        let fault =
            lost > 0
            ? "\(FigureText.grouped(lost)) lost"
            : edge.isFailing ? "\(FigureText.percent(edge.failureRate)) % failed" : nil
        return MapPicture.EdgeLabel(
            text: fault ?? FigureText.grouped(edge.count), count: edge.count, isBad: edge.isFailing)
    }

    private func label(_ place: MapPlace) -> MapPicture.Label {
        switch place {
        case .outside:
            MapPicture.Label(
                name: place.name, lines: ["no agent seen there", "their counts are unknown"], isBad: false,
                isWatched: false)
        case .service(let name): service(name)
        case .host(let name, let system): host(name, system)
        }
    }

    private func service(_ name: String) -> MapPicture.Label {
        let agents = map.agents.filter { $0.resource.service == name }
        let instances = Set(agents.map(\.resource.instance)).count
        let latest = agents.max { $0.firstSeen < $1.firstSeen }?.resource.version
        let senders = "\(instances) \(instances == 1 ? "instance" : "instances")"
        let figures = map.services[name]
        return MapPicture.Label(
            name: name,
            lines: [[latest, senders].compactMap { $0 }.joined(separator: ", ")]
                + (figures.map {
                    ["\(FigureText.figure($0.perSecond))/s, \(FigureText.percent($0.failures.rate)) % failed"]
                } ?? []),
            isBad: (figures?.failures.rate ?? 0) >= CallEdge.failing, isWatched: true,
            address: map.pageRequest.address(ofService: name))
    }

    /// - Parameter system: the called system, such as a database; `nil` for HTTP.
    private func host(_ name: String, _ system: String?) -> MapPicture.Label {
        let served = map.report.edges.contains { $0.caller == .host(name, system: system) }
        let figures = map.calls.requests(to: name, system: system)
        let isShared = system != nil || map.hostsOfSystems.contains(name)
        return MapPicture.Label(
            name: HostName.text(name),
            lines: [
                system ?? (served ? "served by several services" : "no agent seen there"),
                "p95 \(Figure.duration(figures.latency.p95)), \(FigureText.percent(figures.failures.rate)) % failed",
            ],
            isBad: figures.failures.rate >= CallEdge.failing, isWatched: served,
            address: map.pageRequest.address(of: .overview).with([
                (.host, name), (.system, isShared ? system ?? "" : nil),
            ]))
    }
}
