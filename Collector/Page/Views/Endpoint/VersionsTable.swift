import MartletReports
import MartletStorage
import MartletTelemetry

/// The versions of the services at both ends of an endpoint, side by side.
struct VersionsTable {
    /// Rows at most.
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
                    version.kind == .client ? "calls, as its caller measures" : "answers, as its server measures"
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

    /// The times at which senders of the version were first and last seen, kept within the window.
    private func seen(_ version: EndpointVersion) -> String {
        guard let seen = version.seen else { return "not known" }
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
            element("p", .class("hint")) { "A server does not count a 4xx as a failure, its caller does." }
        }
    }
}
