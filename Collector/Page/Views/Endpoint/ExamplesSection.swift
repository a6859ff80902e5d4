import MartletReports
import MartletStorage

/// Requests with kept details: the slowest, the latest failed, and the latest that succeeded.
struct ExamplesSection {
    let endpoint: Endpoint
    private var examples: EndpointExamples { endpoint.examples }

    var html: HTML {
        element("section", Attribute("aria-labelledby", "h-examples")) {
            element("div", .class("bar-head")) { element("h2", .id("h-examples")) { "Examples" } }
            element("div", .class("panel")) {
                element("div", .class("three")) {
                    list("Slowest", examples.slowest)
                    list("Failed last", examples.failed)
                    list("Succeeded last", examples.succeeded)
                }
                hint
            }
        }
    }

    private func list(_ title: String, _ requests: [RequestSummary]) -> HTML {
        element("div") {
            element("h3") { title }
            if requests.isEmpty {
                element("p", .class("zero")) { "none are kept" }
            } else {
                element("ol", .class("examples")) { for request in requests { item(request) } }
            }
        }
    }

    private func item(_ request: RequestSummary) -> HTML {
        element("li") {
            link(endpoint.pageRequest.scoped(PageAddress("/requests/", id: request.id))) {
                element("span", .class("num")) { Figure.duration(request.duration) }
                element("span", .class(request.failed ? "st bad" : "st")) {
                    if request.failed { Icon.failed.html }
                    request.error ?? request.status.map(String.init) ?? (request.system == nil ? "no status" : "ok")
                }
                element("span", .class("when")) { time(request) }
            }
        }
    }

    private func time(_ request: RequestSummary) -> String {
        guard let time = TimeText.parse(request.time, now: 0) else { return request.time }
        return endpoint.window.seconds > 86_400 ? ClockText.moment(time, in: endpoint.window) : ClockText.seconds(time)
    }

    private var hint: HTML {
        element("p", .class("hint")) {
            if examples.kept > 0 {
                let kept = UInt64(examples.kept)
                link(endpoint.requestsAddress) {
                    kept == 1
                        ? "The one request whose details are kept"
                        : "All \(FigureText.grouped(kept)) requests whose details are kept"
                }
                ", of \(FigureText.grouped(endpoint.requests.count))"
            } else {
                "No details are kept of \(FigureText.counted(endpoint.requests.count, "request"))"
            }
        }
    }
}

/// Some of the requests with kept details.
struct EndpointExamples: Sendable {
    /// The number of requests in each list.
    static let count = 5

    let slowest: [RequestSummary]
    let failed: [RequestSummary]
    let succeeded: [RequestSummary]
    /// The kept requests of the window.
    let kept: Int

    /// - Parameter query: the kept requests of the selection.
    init(_ query: RequestsQuery, in storage: some Storage) async throws {
        var (slow, failed) = (query, query)
        slow.order = RequestsQuery.Order(.duration)
        failed.onlyFailed = true
        let all = try await storage.requests(slow)
        kept = all.count
        slowest = RequestsReport(all, for: slow).requests
        self.failed = RequestsReport(try await storage.requests(failed), for: failed).requests
        guard query.filter.wanted[.error] == nil else {
            succeeded = []
            return
        }
        var good = query
        good.filter.select(.error, "")
        // A status can be a failure without an error name.
        succeeded = RequestsReport(try await storage.requests(good), for: good).requests.filter { !$0.failed }
    }
}
