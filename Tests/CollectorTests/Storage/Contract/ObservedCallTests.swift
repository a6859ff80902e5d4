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

        @Test func serverSpanBelowAnotherServicesClientSpanIsACall() async throws {
            let client = CallSpans.span(1, .client, host: "proxy")
            let own = CallSpans.span(4, .client, host: "self")
            try await CallSpans.keep(
                [
                    ("shop", client), ("pay", CallSpans.span(2, .server, host: "pay", parent: client)),
                    ("shop", own), ("shop", CallSpans.span(5, .server, host: "self", parent: own)),
                    ("stock", CallSpans.span(3, .server, host: "stock")),
                ], in: store)
            let calls = try await store.calls(in: Samples.everything, RequestFilter(), limit: 100)
            #expect(
                calls == [
                    ObservedCall(caller: "shop", calledHost: "proxy:80", callee: "pay", servedHost: "pay:80")
                ])
        }

        @Test func filterWindowAndLimitApplyToServerSpans() async throws {
            let client = CallSpans.span(1, .client, host: "proxy")
            try await CallSpans.keep(
                [("shop", client), ("pay", CallSpans.span(2, .server, host: "pay", parent: client))], in: store)
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
