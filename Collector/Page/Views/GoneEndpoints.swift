import MartletReports
import MartletStorage
import MartletTelemetry

/// The endpoints that had requests on the other side of a comparison and have none now.
struct GoneEndpoints {
    /// The id of the heading.
    static let id = "h-gone"
    /// Rows at most.
    private static let maxRows = 20

    let comparison: ReportComparison
    let visit: Visit
    let kind: RequestKind

    /// Returns `nil` if nothing is compared, or if no endpoint is gone.
    init?(_ overview: Overview) {
        guard let comparison = overview.endpoints.compare, comparison.goneCount > 0 else { return nil }
        self.comparison = comparison
        (visit, kind) = (overview.visit, overview.kind)
    }

    var sentence: String {
        let (count, base) = (comparison.goneCount, ComparisonBaseText.text(comparison))
        return
            "\(FigureText.counted(count, "endpoint")) had requests \(base) and \(count == 1 ? "has" : "have") none now"
    }

    var html: HTML {
        element("section", .class("below"), Attribute("aria-labelledby", Self.id)) {
            element("div", .class("bar-head")) { element("h3", .id(Self.id)) { sentence } }
            DataTable.html("grid cards gone", heading: Self.id) {
                DataTable.head {
                    DataTable.title("first", "Endpoint")
                    DataTable.title("", "Service")
                    DataTable.title("num", "Requests before")
                    DataTable.title("num", "Failed before %")
                }
                DataTable.body { for gone in comparison.gone.prefix(Self.maxRows) { row(gone) } }
            }
            if comparison.goneCount > Self.maxRows {
                element("p", .class("hint")) { "The \(Self.maxRows) that took the most time then." }
            }
        }
    }

    private func row(_ row: ReportRow) -> HTML {
        let requests = address(of: row, at: visit.countedRequests)
        return DataTable.row {
            DataTable.name {
                link(address(of: row, at: visit.selected(.endpoint)), .class("name")) {
                    element("span", .class("method")) { row.text(of: .method) }
                    element("span", .class("tpl")) { row.text(of: .endpoint) }
                }
                element("span", .class("sub")) { HostName.text(row.text(of: .host)) }
            }
            DataTable.cell("service", "host") { visit.service(row.text(of: .service)) }
            DataTable.cell("requests before", "num") { link(requests) { FigureText.grouped(row.measures.count) } }
            DataTable.cell("failed before %", "num") {
                link(requests.with(.failed, "true")) { FigureText.percent(row.measures.failures.rate) }
            }
        }
    }

    /// Returns the address of the view of an endpoint or of its requests, where it had some.
    private func address(of row: ReportRow, at view: PageAddress) -> PageAddress {
        let address = EndpointsTable.selecting(row, kind, at: view).with([
            (.since, comparison.from), (.until, comparison.to), (.compare, nil),
        ])
        return ComparisonBase.versions(in: comparison.base).map { address.with(.version, $0.before) } ?? address
    }
}
