import MartletReports
import MartletTelemetry

extension RequestPage {
    /// Bytes of the address in the title, and of a name, at most.
    private static let (addressBytes, nameBytes) = (2048, 200)

    private var request: RequestSummary { report.summary }

    package var html: HTML {
        let title = "\(request.method) \(request.endpoint)".cut(toBytes: Self.nameBytes)
        return PageFrame(visit: visit, facts: facts).document(title, view: .requests, hasScope: false) {
            crumbs
            head
            FactStrip.html(figures)
            if let phases { PhasesTable(waterfall: phases, duration: request.duration).html }
            element("div", .class("two")) {
                MessagePanel(
                    title: "Request", id: "h-request", headers: report.requestHeaders, body: report.requestBody
                ).html
                MessagePanel(
                    title: "Response", id: "h-response", headers: report.responseHeaders, body: report.responseBody
                ).html
            }
            error
            KeyValuePanel(title: "Attributes", id: "h-attributes", pairs: attributes).html
            RequestTrace(page: self).html
            CurlPanel(report: report).html
            CommandLine(
                visit, "requests show \(request.id)", formats: [("JSON", answer), ("HAR", archive)]
            ).html
        }
    }

    private var crumbs: HTML {
        element("nav", .class("crumbs"), .label("Path")) {
            link(visit.address(of: .overview)) { "Overview" }
            link(endpoint(PageAddress("/endpoint"))) {
                element("span") { LongText.html("\(request.method) \(request.endpoint)", atMost: Self.nameBytes) }
            }
            link(endpoint(PageAddress("/requests"))) { "Requests" }
        }
    }

    private func endpoint(_ base: PageAddress) -> PageAddress {
        visit.scoped(base).with([
            (.service, request.service), (.kind, request.kind.rawValue), (.method, request.method),
            (.host, request.host), (.endpoint, request.endpoint),
        ])
    }

    /// The address is text, because a page that a service called is not to be opened by a click.
    private var head: HTML {
        element("header", .class("title")) {
            element("div") {
                element("h1") {
                    element("span", .class("method")) { LongText.html(request.method, atMost: Self.nameBytes) }
                    " "
                    element("span", .class("tpl mono")) {
                        LongText.html(request.url ?? request.host + request.endpoint, atMost: Self.addressBytes)
                    }
                }
                element("p", .class("sub")) { sender }
            }
            element("div", .class("actions")) {
                link(visit.scoped(TracePage.address(of: request.traceID)), .class("button")) {
                    "Trace"
                    Icon.next.html
                }
                link(answer, .class("button")) { "JSON" }
                link(archive, .class("button")) { "HAR" }
            }
        }
    }

    /// The same in the API.
    private var answer: PageAddress { PageAddress("/api/v1/requests/", id: request.id) }

    /// The same as an HTTP archive, which browsers and other tools open.
    private var archive: PageAddress { answer.adding(RequestParameter.format.rawValue, "har") }

    private var sender: HTML {
        HTML.joined([
            HTML(request.kind == .client ? "made by " : "served by "),
            link(visit.address(ofService: request.service)) {
                LongText.html(request.service, atMost: Self.nameBytes)
            },
            LongText.html(
                [request.version.map { " \($0)" }, " on \(request.instance)", request.environment.map { ", \($0)" }]
                    .compactMap(\.self).joined(), atMost: Self.nameBytes),
            HTML(", "),
            element("time", Attribute("datetime", request.time)) {
                request.time.replacing("T", with: " ").replacing("Z", with: " UTC")
            },
        ])
    }

    private var figures: [FactStrip.Fact] {
        [
            FactStrip.Fact(
                title: request.status == nil ? "Error" : "Status",
                value: LongText.html(RequestsTable.outcome(of: request), atMost: Self.nameBytes),
                isBad: request.failed),
            FactStrip.Fact(title: "Duration", value: HTML(Figure.duration(request.duration))),
            FactStrip.Fact(title: "Sent", value: Self.bytes(request.bytes.sent)),
            FactStrip.Fact(title: "Received", value: Self.bytes(request.bytes.received)),
        ] + (request.rule.map { [FactStrip.Fact(title: "Changed by rule", value: HTML($0))] } ?? []) + [
            FactStrip.Fact(title: "Connection", value: HTML(connection)),
            FactStrip.Fact(
                title: "Trace",
                value: HTML(FigureText.counted(report.trace.count + (report.moreSpans ?? 0), "span")),
                note: "in \(FigureText.counted(trace.services.count, "service"))"),
        ]
    }

    private static func bytes(_ count: UInt64?) -> HTML {
        HTML(count.map { "\(FigureText.grouped($0)) B" } ?? "not told")
    }

    private var connection: String {
        switch phases?.connection {
        case .new: "new"
        case .reused: "reused"
        case .unknown, nil: "not known"
        }
    }

    private var error: HTML {
        guard let error = request.error else { return .none }
        return element("section", .class("panel"), Attribute("aria-labelledby", "h-error")) {
            element("h2", .id("h-error")) { "Error" }
            element("dl", .class("pairs")) {
                pair("Type") { LongText.html(error, atMost: Self.addressBytes) }
                if let message = request.message {
                    pair("Message") { LongText.html(message, atMost: Self.addressBytes) }
                }
                if let first = trace.rows.firstIndex(where: \.failedFirst), trace.rows[first].span.id != request.id {
                    pair("Failed first") {
                        link(visit.scoped(TracePage.address(of: request.traceID)).at(TraceTable.id(ofRow: first))) {
                            TraceTable.sentence(trace.rows[first].span)
                        }
                    }
                }
                pair("Others") {
                    link(endpoint(PageAddress("/requests")).with(.error, error)) {
                        "kept requests of this endpoint with this error"
                    }
                }
            }
        }
    }

    private func pair(_ title: String, @HTMLBuilder value: () -> HTML) -> HTML {
        element("div") {
            element("dt") { title }
            element("dd", content: value)
        }
    }

    private var attributes: [(String, String)] {
        report.attributes.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}
