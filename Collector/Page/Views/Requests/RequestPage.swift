import MartletReports
import MartletStorage
import MartletTelemetry

/// Everything that is kept about a request.
package struct RequestPage: Sendable {
    static func address(of id: String) -> PageAddress { PageAddress("/requests/", id: id) }

    let pageRequest: PageRequest
    let facts: FrameData
    let report: RequestReport
    let phases: PhaseWaterfall?
    let trace: TraceWaterfall

    /// - Throws: ``UnknownRequest``, or the store's error.
    package init(_ id: String, _ pageRequest: PageRequest, in storage: some Storage) async throws {
        self.pageRequest = pageRequest
        report = try await RequestReport(id: id, in: storage)
        phases = PhaseWaterfall(report)
        trace = TraceWaterfall(report.trace)
        facts = try await FrameData(pageRequest, in: storage)
    }

    /// Returns the page request for the page of a kept request.
    package static func pageRequest(
        _ id: String, _ pairs: [(String, String)], now: UnixNanoseconds
    ) throws(ParameterError) -> PageRequest {
        try PageRequest(address(of: id), pairs, now: now)
    }
}

extension RequestPage {
    /// The maximum lengths of the address in the title and of a name, in bytes.
    private static let (addressBytes, nameBytes) = (2048, 200)

    private var request: RequestSummary { report.summary }

    package var html: HTML {
        let title = name.cut(toBytes: Self.nameBytes)
        return PageFrame(pageRequest: pageRequest, facts: facts).document(title, view: .requests, hasScope: false) {
            crumbs
            head
            FactStrip.html(figures)
            if let phases { PhasesTable(waterfall: phases, duration: request.duration).html }
            if !isWithoutMessages { messages }
            error
            KeyValuePanel(title: "Attributes", id: "h-attributes", pairs: attributes).html
            RequestTrace(page: self).html
            CurlPanel(report: report).html
            CommandLine(pageRequest, "requests show \(request.id)", formats: [("JSON", answer)]).html
        }
    }

    /// The method and the endpoint.
    private var name: String { EndpointName.text(request.method, request.endpoint) }

    /// Whether the request has no header fields and bodies, because its system has none.
    private var isWithoutMessages: Bool {
        request.system != nil && report.requestHeaders.isEmpty && report.responseHeaders.isEmpty
            && report.requestBody == nil && report.responseBody == nil
    }

    private var messages: HTML {
        element("div", .class("two")) {
            MessagePanel(
                title: "Request", id: "h-request", headers: report.requestHeaders, body: report.requestBody
            ).html
            MessagePanel(
                title: "Response", id: "h-response", headers: report.responseHeaders, body: report.responseBody
            ).html
        }
    }

    private var crumbs: HTML {
        element("nav", .class("crumbs"), .label("Path")) {
            link(pageRequest.address(of: .overview)) { "Overview" }
            link(endpoint(.endpoint)) {
                element("span") { LongText.html(name, atMost: Self.nameBytes) }
            }
            link(endpoint(.requests)) { "Requests" }
        }
    }

    private func endpoint(_ base: PageAddress) -> PageAddress {
        pageRequest.scoped(base).with([
            (.service, request.service), (.kind, request.kind.rawValue), (.method, request.method),
            (.host, request.host), (.endpoint, request.endpoint), (.system, request.system),
        ])
    }

    /// The address is not a link, because a click must not open a page that a service called.
    private var head: HTML {
        element("header", .class("title")) {
            element("div") {
                element("h1") {
                    element("span", .class("method")) { LongText.html(request.method, atMost: Self.nameBytes) }
                    " "
                    element("span", .class("tpl mono")) {
                        LongText.html(address, atMost: Self.addressBytes)
                    }
                }
                element("p", .class("sub")) { sender }
            }
            element("div", .class("actions")) {
                link(pageRequest.scoped(TracePage.address(of: request.traceID)), .class("button")) {
                    "Trace"
                    Icon.next.html
                }
                link(answer, .class("button")) { "JSON" }
            }
        }
    }

    /// The address. If the sender does not send it, the host and the endpoint; for a system, only the endpoint.
    private var address: String {
        if let url = request.url { return url }
        return request.system == nil
            ? request.host + request.endpoint : EndpointName.text(request.endpoint, after: request.method)
    }

    /// The same request in the API.
    private var answer: PageAddress { PageAddress("/api/v1/requests/", id: request.id) }

    private var sender: HTML {
        HTML.joined([
            HTML(request.kind == .client ? "sent by " : "served by "),
            link(pageRequest.address(ofService: request.service)) {
                LongText.html(request.service, atMost: Self.nameBytes)
            },
            LongText.html(
                [request.version.map { " \($0)" }, " on \(request.instance)", request.environment.map { ", \($0)" }]
                    .compactMap(\.self).joined(), atMost: Self.nameBytes),
            place,
            HTML(", "),
            element("time", Attribute("datetime", request.time)) {
                request.time.replacing("T", with: " ").replacing("Z", with: " UTC")
            },
        ])
    }

    /// The host and the system. The title has the host of a request over HTTP.
    private var place: HTML {
        guard request.system != nil else { return .none }
        let words = request.kind == .client ? " to " : " at "
        return LongText.html(
            words + HostName.text(request.host, system: request.system), atMost: 2 * Self.nameBytes)
    }

    private var figures: [FactStrip.Fact] {
        var facts = [
            FactStrip.Fact(
                title: outcomeTitle, value: LongText.html(RequestsTable.outcome(of: request), atMost: Self.nameBytes),
                isBad: request.failed),
            FactStrip.Fact(title: "Duration", value: HTML(Figure.duration(request.duration))),
        ]
        if !isWithoutMessages { facts += sizes }
        if let rule = request.rule { facts.append(FactStrip.Fact(title: "Changed by rule", value: HTML(rule))) }
        if !isWithoutMessages { facts.append(FactStrip.Fact(title: "Connection", value: HTML(connection))) }
        facts.append(
            FactStrip.Fact(
                title: "Trace",
                value: HTML(FigureText.counted(report.trace.count + (report.moreSpans ?? 0), "span")),
                note: "in \(FigureText.counted(trace.services.count, "service"))"))
        return facts
    }

    private var outcomeTitle: String {
        if request.status != nil { return "Status" }
        return request.system != nil && request.error == nil ? "Outcome" : "Error"
    }

    private var sizes: [FactStrip.Fact] {
        [
            FactStrip.Fact(title: "Sent", value: Self.bytes(request.bytes.sent)),
            FactStrip.Fact(title: "Received", value: Self.bytes(request.bytes.received)),
        ]
    }

    private static func bytes(_ count: UInt64?) -> HTML {
        HTML(count.map { "\(FigureText.grouped($0)) B" } ?? "unknown")
    }

    private var connection: String {
        switch phases?.connection {
        case .new: "new"
        case .reused: "reused"
        case .unknown, nil: "unknown"
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
                        link(pageRequest.scoped(TracePage.address(of: request.traceID)).at(TraceTable.id(ofRow: first)))
                        {
                            TraceTable.sentence(trace.rows[first].span)
                        }
                    }
                }
                pair("Others") {
                    link(endpoint(.requests).with(.error, error)) {
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

/// The phases of a request, one after the other.
struct PhasesTable {
    private static let height = 16.0
    /// The smallest width of a bar, as a share of the whole width.
    private static let least = 0.005

    let waterfall: PhaseWaterfall
    /// Milliseconds.
    let duration: Double

    private var axis: WaterfallAxis { WaterfallAxis(upTo: waterfall.scale) }

    var html: HTML {
        element("section", .class("panel"), Attribute("aria-labelledby", "h-phases")) {
            element("div", .class("bar-head")) {
                element("h2", .id("h-phases")) {
                    "Phases "
                    element("small") { "of \(Figure.duration(duration))" }
                }
                SideStyle.legend
            }
            element("table", .class("grid waterfall")) {
                element("thead") {
                    element("tr") {
                        element("th", Attribute("scope", "col")) { "Phase" }
                        element("th", Attribute("scope", "col"), .class("num")) { "ms" }
                        element("th", Attribute("scope", "col"), .class("wf")) {
                            element("span", .class("vh")) { "When" }
                            axis.head
                        }
                    }
                }
                element("tbody") { for bar in waterfall.bars { row(bar) } }
            }
        }
    }

    private func row(_ bar: PhaseWaterfall.Bar) -> HTML {
        element("tr") {
            element("th", Attribute("scope", "row")) {
                bar.phase.title
                element("span", .class("sub")) {
                    bar.isUnfinished ? (bar.phase == .firstByte ? "never arrived" : "never finished") : note(bar.phase)
                }
            }
            element("td", .class("num")) { Figure.milliseconds(bar.length) }
            element("td", .class("wf")) {
                SVG.wide("phase", height: Self.height, .hidden) {
                    axis.grid(to: Self.height + 34)
                    let width = max(Self.least, axis.share(bar.length))
                    SideStyle.bar(
                        bar.side, x: min(axis.share(bar.start), 1 - width), y: 2, width: width, height: 11,
                        radius: 1.5)
                }
            }
        }
    }

    private func note(_ phase: RequestPhase) -> String {
        switch phase {
        case .queue: "waiting in this process for the session and a connection"
        case .dns, .connect, .tls: ""
        case .firstByte:
            waterfall.connection == .reused ? "on an open connection" : "sent, and waiting for the server"
        case .transfer: "reading the response"
        }
    }
}

extension RequestPhase {
    fileprivate var title: String {
        switch self {
        case .queue: "Queue"
        case .dns: "DNS"
        case .connect: "Connect"
        case .tls: "TLS"
        case .firstByte: "First byte"
        case .transfer: "Transfer"
        }
    }
}

/// The beginning of a request's trace, with a link to all of it.
struct RequestTrace {
    /// The maximum number of lines that are shown.
    private static let maxRows = 8

    let page: RequestPage

    var html: HTML {
        let lines = page.trace.folded(except: page.report.summary.id).prefix(Self.maxRows)
        let shown = lines.reduce(0) { $0 + $1.spans.count }
        let spans = FigureText.counted(page.trace.rows.count + (page.report.moreSpans ?? 0), "span")
        let isWhole = shown == page.trace.rows.count && page.report.moreSpans == nil
        return element("section", .class("panel flush"), Attribute("aria-labelledby", "h-trace")) {
            element("div", .class("bar-head")) {
                element("h2", .id("h-trace")) {
                    "Trace "
                    element("small") {
                        isWhole ? spans : "the first \(FigureText.grouped(UInt64(shown))) of \(spans)"
                    }
                }
                SpanBar.legend
                link(page.pageRequest.scoped(TracePage.address(of: page.report.summary.traceID))) {
                    "Whole trace"
                    Icon.next.html
                }
            }
            TraceTable(
                waterfall: page.trace, lines: Array(lines), pageRequest: page.pageRequest,
                unfolded: TracePage.unfolded(page.report.summary.traceID, page.pageRequest), heading: "h-trace",
                current: page.report.summary.id
            ).html
        }
    }
}
