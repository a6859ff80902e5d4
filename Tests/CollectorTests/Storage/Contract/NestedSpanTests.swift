import Fixtures
import MartletStorage
import MartletTelemetry
import Testing

extension StorageContractTests {
    /// Spans of one service in which a framework and its HTTP layer report the same request.
    @Suite struct NestedSpanTests {
        private let folder: TemporaryFolder
        private let storage: any Storage

        init() async throws {
            folder = try TemporaryFolder()
            storage = try await StorageContractTests.makeStore(in: folder)
        }

        struct Span: Sendable {
            var kind = SpanRecord.Kind.server
            /// The position of its parent among the spans of a case, from 1.
            var parent: UInt8?
            var endpoint = "{unknown}"
            var path = "/orders/7"
            var method = "GET"
            var host = "shop.example.com"
            var instance = "s-1"
        }

        struct Case: Sendable, CustomTestStringConvertible {
            var testDescription: String
            var spans: [Span]
            /// The positions of the spans in each body.
            var bodies: [[UInt8]]
            /// The requests by endpoint.
            var counted: [String: UInt64]

            init(_ name: String, _ spans: [Span], in bodies: [[UInt8]], _ counted: [String: UInt64]) {
                (testDescription, self.spans, self.bodies, self.counted) = (name, spans, bodies, counted)
            }
        }

        private static let layers = [Span(endpoint: "/orders/{id}"), Span(parent: 1, endpoint: "/orders/{id}")]
        private static let unnamedOuter = [Span(), Span(parent: 1, endpoint: "/orders/{id}")]
        private static let calls = [
            Span(kind: .client, endpoint: "/orders/{id}"), Span(kind: .client, parent: 1, endpoint: "/orders/{id}"),
        ]
        private static let tries = calls + [Span(kind: .client, parent: 1), Span(kind: .client, parent: 1)]
        private static let through = [
            Span(endpoint: "/orders/{id}"), Span(kind: .internal, parent: 1), Span(kind: .internal, parent: 2),
            Span(parent: 3),
        ]

        static let cases = [
            Case("in one body", layers, in: [[1, 2]], ["/orders/{id}": 1]),
            Case("the inner one first in one body", layers, in: [[2, 1]], ["/orders/{id}": 1]),
            Case("the inner one in an earlier body", layers, in: [[2], [1]], ["/orders/{id}": 1]),
            Case("the outer one in an earlier body", layers, in: [[1], [2]], ["/orders/{id}": 1]),
            Case("sent twice", layers, in: [[2], [2], [1], [1, 2]], ["/orders/{id}": 1]),
            Case("only the inner one has a route", unnamedOuter, in: [[1, 2]], ["/orders/{id}": 1]),
            Case("the outer one without a route comes later", unnamedOuter, in: [[2], [1]], ["/orders/{id}": 1]),
            Case("none has a route", [Span(), Span(parent: 1)], in: [[1, 2]], ["{unknown}": 1]),
            Case(
                "the outermost one with a route",
                [Span(), Span(parent: 1, endpoint: "/a"), Span(parent: 2, endpoint: "/b")],
                in: [[3, 2, 1]], ["/a": 1]),
            Case("calls in one body", calls, in: [[1, 2]], ["/orders/{id}": 1]),
            Case("calls in two bodies", calls, in: [[2], [1]], ["/orders/{id}": 1]),
            Case("a call with three tries", tries, in: [[1, 2, 3, 4]], ["/orders/{id}": 1]),
            Case("two of three tries in the body of the call", tries, in: [[2], [3, 4, 1]], ["/orders/{id}": 1]),
            // Nothing shows that they are of one call.
            Case("two tries in an earlier body", tries, in: [[2, 3], [4, 1]], ["/orders/{id}": 1, "{unknown}": 1]),
            Case("internal spans between them", through, in: [[1, 2, 3, 4]], ["/orders/{id}": 1]),
            Case("internal spans in a later body", through, in: [[4], [1, 2, 3]], ["{unknown}": 1]),
            Case("internal spans in an earlier body", through, in: [[2, 3], [1], [4]], ["/orders/{id}": 1]),
            Case(
                "a framework that is mounted at a path", [Span(path: "/shop/orders/7"), Span(parent: 1)], in: [[1, 2]],
                ["{unknown}": 1]),
            Case(
                "a URL and a path", [Span(path: "http://shop.example.com/orders/7"), Span(parent: 1)], in: [[1, 2]],
                ["{unknown}": 1]),
            Case(
                "a query in one of the URLs",
                [Span(path: "http://shop.example.com/orders/7?page=2"), Span(parent: 1)], in: [[1, 2]],
                ["{unknown}": 1]),
            Case(
                "a query with a path in it",
                [Span(path: "http://shop.example.com?next=/a"), Span(parent: 1, path: "/")],
                in: [[1, 2]], ["{unknown}": 1]),
            // These are two requests.
            Case(
                "a service that calls itself", [Span(), Span(kind: .client, parent: 1), Span(parent: 2)],
                in: [[1, 2, 3]], ["{unknown}": 3]),
            Case(
                "another path", [Span(endpoint: "/a", path: "/a"), Span(parent: 1, endpoint: "/b", path: "/b")],
                in: [[1, 2]], ["/a": 1, "/b": 1]),
            Case("another method", [Span(), Span(parent: 1, method: "POST")], in: [[1], [2]], ["{unknown}": 2]),
            Case("another instance", [Span(), Span(parent: 1, instance: "s-2")], in: [[1], [2]], ["{unknown}": 2]),
            Case(
                "a call to another host",
                [Span(kind: .client), Span(kind: .client, parent: 1, host: "other.example.com")], in: [[1, 2]],
                ["{unknown}": 2]),
            Case(
                "children of one request", [Span(), Span(kind: .client, parent: 1), Span(kind: .client, parent: 1)],
                in: [[1, 2, 3]], ["{unknown}": 3]),
            Case("a parent that is not known", [Span(parent: 9), Span(parent: 9)], in: [[1], [2]], ["{unknown}": 2]),
            Case("its own parent", [Span(parent: 1)], in: [[1]], ["{unknown}": 1]),
        ]

        private func send(_ positions: [UInt8], of spans: [Span]) async throws {
            let records = try positions.map { position in
                let span = spans[Int(position) - 1]
                var record = Samples.detail(position)
                record.traceID = try #require(TraceID(high: 1, low: 1))
                record.parentSpanID = span.parent.flatMap { SpanID(UInt64($0)) }
                (record.kind, record.url) = (span.kind, span.path)
                if let kind = RequestKind(rawValue: span.kind.rawValue) {
                    var request = Samples.dimensions(kind, endpoint: span.endpoint)
                    (request.method, request.host) = (span.method, span.host)
                    record.request = request
                } else {
                    record.request = nil
                }
                return (instance: span.instance, record: record)
            }
            let batches = Dictionary(grouping: records, by: \.instance).map { instance, records in
                DetailsBatch(
                    resource: TelemetryResource(service: "shop", instance: instance, agent: "opentelemetry 1.38"),
                    details: records.map(\.record))
            }
            _ = try await storage.store(batches, of: nil)
        }

        @Test(arguments: cases) func spansOfOneRequestCountOnce(example: Case) async throws {
            for body in example.bodies { try await send(body, of: example.spans) }
            let query = StatisticsQuery(window: Samples.everything, by: [.endpoint])
            let groups = try await storage.statistics(query).groups
            let counted = groups.reduce(into: [String: UInt64]()) { $0[$1.values[0] ?? "", default: 0] += $1.count }
            #expect(counted == example.counted, "\(example.testDescription)")
            #expect(groups.allSatisfy { $0.fromSpans == $0.count })
            #expect(try await storage.keptRequests() == example.spans.count { $0.kind != .internal })
        }

        @Test func outerSpanGivesTheDuration() async throws {
            var (outer, inner) = (Samples.detail(1), Samples.detail(2))
            (inner.traceID, inner.parentSpanID) = (outer.traceID, outer.spanID)
            (outer.durationNanoseconds, inner.durationNanoseconds) = (500_000_000, 100_000_000)
            let resource = TelemetryResource(service: "shop", instance: "s-1", agent: "opentelemetry 1.38")
            _ = try await storage.store([DetailsBatch(resource: resource, details: [inner, outer])], of: nil)
            let groups = try await storage.statistics(StatisticsQuery(window: Samples.everything, by: [])).groups
            #expect(groups.map(\.count) == [1])
            #expect(groups.map(\.statistics.duration.sum) == [0.5])
        }

        /// SQLite reads the spans of a trace in the order of their ids.
        @Test func spansOfAnotherSenderDoNotHideThoseOfARequest() async throws {
            func store(_ spans: [SpanRecord], of service: String) async throws {
                let resource = TelemetryResource(service: service, instance: "s-1", agent: "opentelemetry 1.38")
                _ = try await storage.store([DetailsBatch(resource: resource, details: spans)], of: nil)
            }
            let others = try (1...RequestSpans.maxStored).map { number in
                var span = Samples.detail(1)
                span.spanID = try #require(SpanID(UInt64(number)))
                return span
            }
            var (outer, inner) = (Samples.detail(1), Samples.detail(1))
            outer.spanID = try #require(SpanID(.max))
            inner.spanID = try #require(SpanID(.max - 1))
            inner.parentSpanID = outer.spanID
            try await store(others, of: "pay")
            try await store([inner], of: "shop")
            try await store([outer], of: "shop")
            let query = StatisticsQuery(window: Samples.everything, by: [.service])
            let counts = try await storage.statistics(query).groups.map { [$0.values[0] ?? "", "\($0.count)"] }
            #expect(Set(counts) == [["pay", "\(RequestSpans.maxStored)"], ["shop", "1"]])
        }
    }
}
