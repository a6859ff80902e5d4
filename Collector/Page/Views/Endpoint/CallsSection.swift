import MartletReports
import MartletStorage

/// What a served endpoint calls for each request.
struct CallsSection {
    /// The maximum number of rows, and the maximum size of a name in bytes.
    private static let (most, nameBytes) = (20, 200)

    let endpoint: Endpoint

    @HTMLBuilder var html: HTML {
        if let made = endpoint.calls, !made.calls.isEmpty {
            element("section", Attribute("aria-labelledby", "h-calls")) {
                element("div", .class("bar-head")) { element("h2", .id("h-calls")) { "What it calls" } }
                if !made.calls.rows.isEmpty { table(made) }
                element("p", .class("hint")) { source(made) }
                if made.calls.unknown > 0 { element("p", .class("hint")) { unknown(made.calls.unknown) } }
            }
        }
    }

    private func table(_ made: EndpointCalls) -> HTML {
        DataTable.html("grid cards", heading: "h-calls") {
            DataTable.head {
                DataTable.title("first", "Called")
                for title in ["Per request", endpoint.windowBefore.title, "Of its time %"] {
                    DataTable.title("num", title)
                }
            }
            DataTable.body { for row in made.calls.rows.prefix(Self.most) { html(row, made) } }
        }
    }

    private func html(_ row: CallsPerRequest.Row, _ made: EndpointCalls) -> HTML {
        DataTable.row {
            DataTable.name {
                link(address(row.called, made.service), .class("name")) {
                    element("span", .class("tpl")) {
                        LongText.html(EndpointName.text(row.called.method, row.called.endpoint), atMost: Self.nameBytes)
                    }
                }
                element("span", .class("sub")) { LongText.html(made.place(of: row.called), atMost: Self.nameBytes) }
            }
            DataTable.cell("per request", "num") { element("b") { FigureText.figure(row.calls) } }
            DataTable.cell(endpoint.windowBefore.text, "num") { row.before.map(FigureText.figure) ?? "unknown" }
            DataTable.cell("of its time %", "num barred") {
                element("span") { FigureText.fixed(row.share * 100, 1) }
                ShareBar.html(row.share)
            }
        }
    }

    /// The requests as the service counted them when it sent them.
    private func address(_ called: CalledEndpoint, _ service: String) -> PageAddress {
        endpoint.pageRequest.scoped(.endpoint).with([
            (.service, service), (.kind, "client"), (.method, called.method), (.host, called.host),
            (.endpoint, called.endpoint), (.system, called.system),
        ])
    }

    private func source(_ made: EndpointCalls) -> String {
        let served = FigureText.counted(made.calls.served, "request")
        guard let traces = made.calls.traces else {
            return "All outgoing requests of \(made.service), divided by the \(served) that it served."
        }
        return """
            By \(FigureText.counted(traces, "kept trace")): \(made.service) also served other requests, and the kept traces show \
            which calls belong to these \(served).
            """
    }

    private func unknown(_ count: Int) -> String {
        "No kept trace shows which requests call \(FigureText.counted(count, "more endpoint"))."
    }
}

/// The calls of the service that serves an endpoint.
struct EndpointCalls: Sendable {
    let service: String
    let calls: CallsPerRequest
    /// The services that spans showed behind called hosts.
    private let callees: [String: Set<String>]

    /// Returns `nil` for calls, if no endpoint is selected, if several services serve it, or if they call too many endpoints.
    ///
    /// - Parameter services: the services that served the requests.
    init?(
        _ queries: EndpointQueries, in window: TimeWindow, of services: Set<String>, from storage: some Storage
    ) async throws {
        guard queries.filter.wanted[.kind] == ["server"], queries.filter.wanted[.endpoint] != nil,
            let service = services.first, services.count == 1
        else { return nil }
        do {
            calls = try await CallsPerRequestQuery(served: queries.filter, of: service)
                .answer(in: window, before: queries.before.window, from: storage)
        } catch is TooManyGroups {
            return nil
        }
        self.service = service
        let observed = try await storage.calls(in: window, queries.environment, limit: OtherSide.maxCalls)
        callees = Dictionary(
            observed.filter { $0.caller == service }.map { ($0.calledHost, [$0.callee]) },
            uniquingKeysWith: { $0.union($1) })
    }

    /// Returns the called service and host, as far as they are known.
    func place(of called: CalledEndpoint) -> String {
        let host = HostName.text(called.host, system: called.system)
        guard let services = callees[called.host] else { return host }
        return "\(NameList.text(services.sorted(), atMost: 3)) at \(host)"
    }
}
