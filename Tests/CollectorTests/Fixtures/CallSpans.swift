import Fixtures
import MartletStorage
import MartletTelemetry

/// Spans of calls between services.
enum CallSpans {
    /// The call of `call(_:at:in:)`.
    static let observed = ObservedCall(caller: "shop", calledHost: "proxy:80", callee: "pay", servedHost: "pay:80")

    static func span(
        _ number: UInt8, _ kind: RequestKind, host: String, parent: SpanRecord? = nil, at second: UInt64 = 1
    ) -> SpanRecord {
        var span = Samples.detail(number)
        (span.kind, span.start) = (kind == .client ? .client : .server, Samples.time(second))
        var request = Samples.dimensions(kind)
        (request.host, request.port) = (host, 80)
        span.request = request
        if let parent { (span.traceID, span.parentSpanID) = (parent.traceID, parent.spanID) }
        return span
    }

    static func keep(_ spans: [(service: String, span: SpanRecord)], in store: some Storage) async throws {
        for (service, span) in spans {
            _ = try await store.store(
                [DetailsBatch(resource: Samples.resource(service), details: [span])], of: nil)
        }
    }

    /// Keeps a call of `shop` to `pay` through a proxy.
    ///
    /// - Parameter served: the host that `pay` was reached as.
    static func call(
        _ number: UInt8 = 1, served: String = "pay", at second: UInt64 = 1, in store: some Storage
    ) async throws {
        let client = span(number, .client, host: "proxy", at: second)
        let server = span(number + 100, .server, host: served, parent: client, at: second)
        try await keep([("shop", client), ("pay", server)], in: store)
    }
}

extension Storage {
    /// Returns the calls that were observed at any time.
    func calls(_ filter: RequestFilter = RequestFilter(), in window: TimeWindow = Samples.everything) async throws
        -> Set<ObservedCall>
    {
        try await calls(in: window, filter, limit: 100)
    }

    /// The number of kept requests.
    func keptRequests() async throws -> Int {
        try await requests(RequestsQuery(window: Samples.everything, limit: 1)).count
    }
}
