import MartletReports
import MartletStorage
import MartletTelemetry

/// The kept requests that match a search, in pages.
package struct RequestList: Sendable {
    /// The number of requests on a page, unless the address sets another.
    static let pageSize = 50
    /// The maximum number of choices in a list.
    private static let maxChoices = 200

    /// The live tail: on or not.
    private enum Live: String, CaseIterable { case on }

    let pageRequest: PageRequest
    let facts: FrameData
    /// The parameters of the list, for a command and for the API.
    let parameters: RequestsParameters
    let order: RequestsQuery.Order
    let report: RequestsReport
    /// `nil` if the list has conditions that counts cannot be filtered by.
    let counted: CountedRequests?
    let filters: [RequestListFilter]
    let methods: [String]
    let hosts: [String]
    let systems: [String]
    /// The chosen method, host and system, if no request has them.
    private(set) var unseen: [PageParameter: UnknownName] = [:]
    /// Whether new requests appear at the top automatically.
    let isLive: Bool
    /// Why no request was counted; `nil` if some were, or in a live tail.
    private(set) var empty: NoResultsView?
    /// The conditions of an empty list; empty if the list has requests.
    private(set) var trials: [RequestListTrial] = []

    /// - Throws: ``ParameterError``, ``UnknownRequest``, ``TooManyGroups``, or the store's error.
    package init(_ pageRequest: PageRequest, in storage: some Storage) async throws {
        self.pageRequest = pageRequest
        parameters = Self.parameters(of: pageRequest)
        let query = try parameters.query(now: pageRequest.now)
        let live: Live? = try pageRequest.parameters.choice(.live)
        order = query.order
        isLive = live == .on && pageRequest.isLive && query.before == nil && query.order == RequestsQuery.Order()
        filters = pageRequest.filters.filter { $0 != RequestListFilter(name: .failed, value: "false") }
        facts = try await FrameData(pageRequest, in: storage)
        report = RequestsReport(try await storage.requests(query), for: query)
        counted = try await CountedRequests.load(pageRequest, in: storage)
        methods = try await Self.choices(.method, pageRequest, in: storage)
        hosts = try await Self.choices(.host, pageRequest, in: storage)
        systems = try await Self.choices(.system, pageRequest, in: storage).filter { !$0.isEmpty }
        for (name, seen) in [(PageParameter.method, methods), (.host, hosts), (.system, systems)] {
            unseen[name] = try await pageRequest.unknownName(name, notIn: seen, in: storage)
        }
        // A live tail checks every two seconds. Looking back a week that often would cost too much.
        if report.count == 0, counted?.all == 0, !isLive {
            empty = try await NoResultsView(pageRequest, in: storage)
        }
        if report.count == 0 { trials = try await RequestListTrial.all(filters, pageRequest, in: storage) }
    }

    private static func parameters(of pageRequest: PageRequest) -> RequestsParameters {
        var parameters = pageRequest.parameters(for: RequestsParameter.self)
        if parameters[.limit] == nil { parameters.add(.limit, String(pageSize)) }
        return parameters
    }

    /// Returns the values that occur in requests of the same senders.
    private static func choices(
        _ dimension: Dimension, _ pageRequest: PageRequest, in storage: some Storage
    ) async throws -> [String] {
        var filter = pageRequest.filter
        for other in Dimension.ofRequest { filter.removeAll(other) }
        return try await storage.values(
            ValuesQuery(dimension, window: pageRequest.window, filter: filter, limit: maxChoices)
        ).values
    }
}

extension RequestList {
    /// The seconds between two checks by a browser without scripts.
    private static let liveSeconds = 2

    package var html: HTML {
        PageFrame(pageRequest: pageRequest, facts: facts).document(
            "Requests: \(pageRequest.titleOfScope)", view: .requests, reload: isLive ? Self.liveSeconds : nil
        ) {
            cleared
            head
            RequestSearch(list: self).html
            if report.requests.isEmpty {
                EmptyRequestList(list: self).html
            } else {
                RequestRows(list: self).html
            }
            pages
            command
        }
    }

    private var cleared: HTML {
        guard let count = pageRequest.cleared else { return .none }
        return element("aside", .class("notice"), .role("status")) {
            element("h2") {
                Icon.good.html
                switch count {
                case 0: "Nothing was kept, so nothing was deleted"
                case 1: "1 kept request or span was deleted"
                default: "\(FigureText.grouped(count)) kept requests and spans were deleted"
                }
            }
            element("p") { "Counts, failures and latencies did not change." }
        }
    }

    private var head: HTML {
        element("header", .class("title")) {
            element("div") {
                element("h1", .id("h-requests")) { "Requests" }
                element("p", .class("sub")) { KeptSentence(list: self).text }
            }
            element("nav", .class(isLive ? "tabs live" : "tabs"), .label("Live")) {
                tab(isLive ? "Live" : "Live tail", isCurrent: isLive, liveAddress)
                tab(isLive ? "Pause" : "Stopped", isCurrent: !isLive, pageRequest.here.with(.live, nil))
            }
        }
    }

    private func tab(_ title: String, isCurrent: Bool, _ address: PageAddress) -> HTML {
        HTML(
            "a", (isCurrent ? [Attribute("aria-current", "true")] : []) + [.href(address)], content: HTML(title))
    }

    /// The address of the live tail. New requests appear on its first page, sorted by time, and its window does not end.
    private var liveAddress: PageAddress {
        pageRequest.here.with([
            (.live, "on"), (.until, nil), (.refresh, nil), (.before, nil), (.sort, nil), (.ascending, nil),
        ])
    }

    private var pages: HTML {
        element("nav", .class("pages"), .label("Pages")) {
            if report.count > 0 {
                let shown = FigureText.grouped(UInt64(report.requests.count))
                element("span") { "\(shown) of \(FigureText.grouped(UInt64(report.count)))" }
                if pageRequest.parameters[.before] != nil {
                    link(pageRequest.here.with(.before, nil)) { firstPage }
                }
                if let next = report.next {
                    link(pageRequest.here.with([(.before, next), (.live, nil)]), Attribute("rel", "next")) {
                        "Next page"
                        Icon.next.html
                    }
                }
                SideStyle.legend
                element("span", .class("off")) { "bar length: duration, logarithmic" }
            }
            if pageRequest.mayClear {
                link(pageRequest.scoped(ClearPage.address), .class("danger")) { "Clear kept requests…" }
            }
        }
    }

    private var firstPage: String { order == RequestsQuery.Order() ? "Newest" : "First page" }

    private var command: HTML {
        CommandLine(
            pageRequest, "requests", parameters.commandFlags,
            formats: [("JSON", PageAddress("/api/v1/requests", parameters.query))]
        ).html
    }
}

/// A sentence with the number of counted requests, and how many of them are kept.
struct KeptSentence {
    let list: RequestList

    private var kept: UInt64 { UInt64(list.report.count) }

    var text: String {
        guard let counted = list.counted else {
            return kept == 0
                ? "No kept request matches."
                : "\(FigureText.counted(kept, "kept request")) \(kept == 1 ? "matches" : "match")."
        }
        if list.filters.contains(where: { $0.name == .failed }), counted.all > 0 || kept > 0 {
            guard counted.failed > 0 || kept > 0 else { return "None failed \(list.pageRequest.period)." }
            return
                "\(FigureText.grouped(counted.failed)) failed \(list.pageRequest.period); \(share(of: counted.failed))."
        }
        guard counted.all > 0 || kept > 0 else {
            return "No \(list.filters.isEmpty ? "requests" : "such request") \(list.pageRequest.period)."
        }
        return "\(Self.requests(counted)) \(list.pageRequest.period); \(share(of: counted.all))."
    }

    /// Outgoing and incoming requests are counted separately, because a client and a server may both have counted one request.
    private static func requests(_ counted: CountedRequests) -> String {
        let sides = [(counted.made, "outgoing"), (counted.served, "incoming")].filter { $0.0 > 0 }
        guard let last = sides.last else { return "No requests" }
        let text = sides.map { "\(FigureText.grouped($0.0)) \($0.1)" }.joined(separator: " and ")
        return "\(text) request\(last.0 == 1 ? "" : "s")"
    }

    private func share(of count: UInt64) -> String {
        switch kept {
        case 0: count == 1 ? "it is not kept" : "none of them is kept"
        // Kept requests are placed in the window by the senders' clocks, and counted ones by intervals, so slightly more may be
        // kept.
        case count...: kept == 1 ? "it is kept" : "all of them are kept"
        case 1: "1 of them is kept"
        default: "\(FigureText.grouped(kept)) of them are kept"
        }
    }
}

extension PageRequest {
    /// The window, as words at the end of a sentence.
    var period: String {
        let since = parameters[.since] ?? PageParameter.defaultSince
        if parameters[.until] == nil, let length = TimeText.nanoseconds(since) {
            return "in the last \(FigureText.age(length / 1_000_000_000))"
        }
        return "from \(TimeText.format(window.from)) to \(TimeText.format(window.to))"
    }
}

/// The rows of the list. Each links to its request.
struct RequestRows {
    /// The maximum length of a name in a row, in bytes.
    private static let nameBytes = 200
    /// The number of digits of a trace's id in a row.
    private static let traceDigits = 8

    let list: RequestList
    private var pageRequest: PageRequest { list.pageRequest }
    private var report: RequestsReport { list.report }

    var html: HTML {
        HTML(
            "div",
            [
                .class(list.isLive ? "scroll live" : "scroll"), Attribute("tabindex", "0"), .role("region"),
                Attribute("aria-labelledby", "h-requests"),
            ] + (list.isLive ? [Attribute("data-live")] : []),
            content: element("table", .class("grid cards list"), .role("table")) {
                DataTable.head { titles }
                DataTable.body { for request in report.requests { row(request) } }
            })
    }

    private var titles: HTML {
        HTML.joined([
            title("first", "Time", .time), DataTable.title("wide", "Request"), DataTable.title("", "Status"),
            title("num", "Duration ms", .duration), DataTable.title("ph", "Where the time went"),
            DataTable.title("", "Service"), DataTable.title("", "Host"), DataTable.title("", "Trace"),
        ])
    }

    /// A title that sorts by its column, or reverses the order if it is already sorted so.
    private func title(_ name: String, _ text: String, _ key: RequestsQuery.Order.Key) -> HTML {
        let order = list.order
        let isCurrent = order.key == key
        let address = pageRequest.here.with([
            (.sort, key.rawValue), (.ascending, isCurrent && !order.ascending ? "true" : nil), (.before, nil),
            (.live, nil),
        ])
        let sorted = isCurrent ? [Attribute("aria-sort", order.ascending ? "ascending" : "descending")] : []
        return HTML(
            "th", [Attribute("scope", "col"), .role("columnheader"), .class(name)] + sorted,
            content: link(address) {
                text
                if isCurrent { (order.ascending ? Icon.up : .down).html }
            })
    }

    private func row(_ request: RequestSummary) -> HTML {
        let address = pageRequest.scoped(RequestPage.address(of: request.id))
        return DataTable.row {
            DataTable.name {
                link(address, .class("name")) {
                    element("time", Attribute("datetime", request.time)) {
                        RequestsTable.time(of: request, in: report)
                    }
                }
            }
            DataTable.cell("request", "wide") {
                link(address, .class("name")) {
                    element("span", .class("method")) { LongText.html(request.method, atMost: Self.nameBytes) }
                    element("span", .class("tpl")) { LongText.html(request.path, atMost: Self.nameBytes) }
                }
            }
            DataTable.cell("status", "outcome") { RequestOutcomeMark.html(request, atMost: Self.nameBytes) }
            DataTable.cell("duration ms", "num") { Figure.milliseconds(request.duration) }
            DataTable.cell("where the time went", "ph") {
                PhaseStrip(request.phases, duration: request.duration).html(longest: longest)
            }
            place(of: request)
        }
    }

    private func place(of request: RequestSummary) -> HTML {
        HTML.joined([
            DataTable.cell("service") {
                link(pageRequest.address(ofService: request.service)) {
                    LongText.html(request.service, atMost: Self.nameBytes)
                }
                if request.kind == .server { element("small") { " incoming" } }
            },
            DataTable.cell("host", "host") {
                LongText.html(request.host, atMost: Self.nameBytes)
                if let system = request.system {
                    element("small") { LongText.html(" " + system, atMost: Self.nameBytes) }
                }
            },
            DataTable.cell("trace") {
                link(pageRequest.scoped(TracePage.address(of: request.traceID)), .class("mono")) {
                    String(request.traceID.prefix(Self.traceDigits))
                }
            },
        ])
    }

    private var longest: Double { report.requests.map(\.duration).max() ?? 0 }
}

extension RequestSummary {
    /// The path and the query of the address; the endpoint if the sender does not send the address. A method precedes it.
    fileprivate var path: String {
        let endpoint = EndpointName.text(endpoint, after: method)
        guard let url, let scheme = url.range(of: "://") else { return endpoint }
        return url[scheme.upperBound...].firstIndex(of: "/").map { String(url[$0...]) } ?? endpoint
    }
}
