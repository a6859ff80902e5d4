import Fixtures
import MartletStorage
import MartletTelemetry
import Testing

extension StorageContractTests {
    @Suite struct ObservedCallTests {
        private let folder: TemporaryFolder
        private let store: any Storage

        init() async throws {
            folder = try TemporaryFolder()
            store = try await StorageContractTests.makeStore(in: folder)
        }

        private static func span(
            _ number: UInt8, _ kind: RequestKind, host: String, parent: SpanRecord? = nil
        ) -> SpanRecord {
            var span = Samples.detail(number)
            span.kind = kind == .client ? .client : .server
            var request = Samples.dimensions(kind)
            (request.host, request.port) = (host, 80)
            span.request = request
            if let parent { (span.traceID, span.parentSpanID) = (parent.traceID, parent.spanID) }
            return span
        }

        private func keep(_ spans: [(service: String, span: SpanRecord)]) async throws {
            for (service, span) in spans {
                _ = try await store.store(
                    [DetailsBatch(resource: Samples.resource(service), details: [span])], of: nil)
            }
        }

        @Test func aServersSpanBelowAClientsOfAnotherServiceIsACall() async throws {
            let client = Self.span(1, .client, host: "proxy")
            let own = Self.span(4, .client, host: "self")
            try await keep(
                [
                    ("shop", client), ("pay", Self.span(2, .server, host: "pay", parent: client)),
                    ("shop", own), ("shop", Self.span(5, .server, host: "self", parent: own)),
                    ("stock", Self.span(3, .server, host: "stock")),
                ])
            let calls = try await store.calls(in: Samples.everything, RequestFilter(), limit: 100)
            #expect(
                calls == [
                    ObservedCall(caller: "shop", calledHost: "proxy:80", callee: "pay", servedHost: "pay:80")
                ])
        }

        @Test func theFilterTheWindowAndTheLimitAreThoseOfTheServersSpans() async throws {
            let client = Self.span(1, .client, host: "proxy")
            try await keep(
                [("shop", client), ("pay", Self.span(2, .server, host: "pay", parent: client))])
            let pay = RequestFilter([.service: ["pay"]])
            #expect(try await store.calls(in: Samples.everything, pay, limit: 100).count == 1)
            let shop = RequestFilter([.service: ["shop"]])
            #expect(try await store.calls(in: Samples.everything, shop, limit: 100) == [])
            let later = TimeWindow(from: Samples.time(2), to: Samples.time(3))
            #expect(try await store.calls(in: later, RequestFilter(), limit: 100) == [])
            #expect(try await store.calls(in: Samples.everything, RequestFilter(), limit: 0) == [])
        }
    }
}
