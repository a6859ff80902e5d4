import MartletReports
import MartletStorage
import MartletTelemetry

/// The versions of the services at both ends of an endpoint, side by side.
struct VersionsTable {
    /// The maximum number of rows.
    private static let most = 20

    let endpoint: Endpoint

    var html: HTML {
        let shown = endpoint.versions.prefix(Self.most)
        let worst = shown.map(\.measures.failures.rate).max() ?? 0
        return HTML.joined([
            element("div", .class("bar-head")) { element("h2", .id("h-versions")) { "Versions" } },
            DataTable.html("grid cards versions", heading: "h-versions") {
                DataTable.head {
                    DataTable.title("first", "Version")
                    for title in ["Count", "Failed %", "p50 ms", "p95 ms", "p99 ms", "First to last seen"] {
                        DataTable.title("num", title)
                    }
                }
                DataTable.body { for version in shown { row(version, worst: worst) } }
            },
            hint,
        ])
    }

    private func row(_ version: EndpointVersion, worst: Double) -> HTML {
        let (measures, requests) = (version.measures, address(version))
        return DataTable.row {
            DataTable.name {
                element("span", .class("tpl")) { version.name }
                if version.new != nil {
                    " "
                    element("span", .class("tag new")) { "new" }
                }
                element("span", .class("sub")) {
                    version.kind == .client ? "measured by the caller" : "measured by the server"
                }
            }
            DataTable.cell("count", "num") { link(requests) { FigureText.grouped(measures.count) } }
            DataTable.cell("failed %", "num barred") {
                link(requests.with(.failed, "true")) { FigureText.percent(measures.failures.rate) }
                ShareBar.html(worst > 0 ? measures.failures.rate / worst : 0, isBad: true)
            }
            for (title, value) in [
                ("p50 ms", measures.latency.p50), ("p95 ms", measures.latency.p95), ("p99 ms", measures.latency.p99),
            ] {
                DataTable.cell(title, "num") {
                    link(requests.with(.sort, "duration")) { Figure.milliseconds(value) }
                }
            }
            DataTable.cell("seen", "num") { seen(version) }
        }
    }

    /// When senders of the version were first and last seen, limited to the window.
    private func seen(_ version: EndpointVersion) -> String {
        guard let seen = version.seen else { return "unknown" }
        let window = endpoint.window
        let (first, last) = (max(seen.first, window.from), min(max(seen.last, window.from), window.to))
        guard first < last else { return ClockText.moment(last, in: window) }
        return ClockText.minutes(TimeWindow(from: first, to: last), in: window)
    }

    private func address(_ version: EndpointVersion) -> PageAddress {
        let address = endpoint.requestsAddress.with([
            (.service, version.service), (.kind, version.kind.rawValue), (.version, version.version),
        ])
        return version.kind == endpoint.kind ? address : endpoint.other.address(address)
    }

    @HTMLBuilder private var hint: HTML {
        if endpoint.versions.count > Self.most {
            element("p", .class("hint")) {
                "The first \(Self.most) of \(FigureText.grouped(UInt64(endpoint.versions.count))) versions."
            }
        }
        if Set(endpoint.versions.map(\.kind)).count > 1 {
            element("p", .class("hint")) { "The caller counts a 4xx as a failure, the server does not." }
        }
    }
}

/// The requests of one version of a service, on either side.
struct EndpointVersion: Sendable {
    let service: String
    let version: String
    /// Whether the requests are outgoing or incoming for the service.
    let kind: RequestKind
    let measures: RequestMeasures
    /// `nil` if the collector knows no sender of this version.
    let seen: SeenVersions.Times?
    /// When the version was first seen, if that is within the window.
    let new: UnixNanoseconds?

    var name: String { version.isEmpty ? service : "\(service) \(version)" }

    /// Returns the versions of the shown side, then those of the other side.
    ///
    /// - Parameters:
    ///   - senders: groups by service, version and others.
    ///   - peers: the groups of the other side by service and version.
    static func all(
        of senders: StatisticsAnswer, _ kind: RequestKind, _ peers: StatisticsAnswer?, _ seen: SeenVersions
    ) -> [EndpointVersion] {
        rows(of: senders, kind, seen)
            + (peers.map { rows(of: $0, kind == .client ? .server : .client, seen) } ?? [])
    }

    private static func rows(
        of answer: StatisticsAnswer, _ kind: RequestKind, _ seen: SeenVersions
    ) -> [EndpointVersion] {
        var groups: [[String]: RequestGroup] = [:]
        for group in answer.groups {
            let name = group.values.prefix(2).map { $0 ?? "" }
            groups[name, default: RequestGroup(values: [])].merge(group)
        }
        let names = groups.keys.sorted { one, other in
            let first = [one, other].map { seen.times(of: $0[0], $0[1])?.first ?? 0 }
            guard one[0] == other[0], first[0] != first[1] else { return one.lexicographicallyPrecedes(other) }
            return first[0] < first[1]
        }
        return names.compactMap { name in
            groups[name].map { group in
                EndpointVersion(
                    service: name[0], version: name[1], kind: kind,
                    measures: group.measures(seconds: answer.ratedWindow.seconds),
                    seen: seen.times(of: name[0], name[1]),
                    new: seen.firstSeen(name[0], name[1], in: answer.window))
            }
        }
    }
}
