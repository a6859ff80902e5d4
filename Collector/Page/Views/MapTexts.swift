import MartletReports
import MartletStorage

/// The map's largest edges with their texts.
struct MapTexts {
    let map: ServiceMap

    var html: HTML {
        let edges = map.report.edges.prefix(ServiceMap.maxDrawn)
        let layout = MapLayout(edges.map { ($0.caller, $0.callee) })
        return MapPicture(
            layout: layout, labels: layout.boxes.map { label($0.place) }, numbers: edges.map(numbers)
        ).html
    }

    private func numbers(_ edge: CallEdge) -> MapPicture.Numbers {
        let lost = edge.lost ?? 0
        return MapPicture.Numbers(
            count: edge.count, sent: edge.sent.map { FigureText.grouped($0.count) },
            arrived: !edge.isShared ? edge.arrived.map { FigureText.grouped($0.count) } : nil,
            fault: lost > 0
                ? "\(FigureText.grouped(lost)) lost"
                : edge.isFailing ? "\(FigureText.percent(edge.failureRate)) % failed" : nil,
            isFailing: edge.isFailing)
    }

    private func label(_ place: MapPlace) -> MapPicture.Label {
        switch place {
        case .outside:
            MapPicture.Label(
                name: place.name, lines: ["no agent known there", "their counts are not known"], isBad: false,
                isWatched: false)
        case .service(let name): service(name)
        case .host(let name): host(name)
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
            address: map.visit.address(ofService: name))
    }

    private func host(_ name: String) -> MapPicture.Label {
        let served = map.report.edges.contains { $0.caller == .host(name) }
        let figures = map.calls.requests(to: name)
        return MapPicture.Label(
            name: HostName.text(name),
            lines: [
                served ? "served by several services" : "no agent known there",
                "p95 \(Figure.duration(figures.latency.p95)), \(FigureText.percent(figures.failures.rate)) % failed",
            ],
            isBad: figures.failures.rate >= CallEdge.failing, isWatched: served,
            address: map.visit.address(of: .overview).with(.host, name))
    }
}
