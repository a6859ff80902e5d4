import Fixtures
import MartletStorage
import MartletTelemetry
import Testing

extension StorageContractTests {
    @Suite struct SpanStorageTests {
        private let folder: TemporaryFolder
        private let storage: any Storage

        init() async throws {
            folder = try TemporaryFolder()
            storage = try await StorageContractTests.makeStore(in: folder)
        }

        @Test func aTraceIsReadBackAsItWasSentWithItsSenders() async throws {
            var first = Samples.span(1)
            first.start = Samples.time(5)
            var second = Samples.span(2)
            second.traceID = first.traceID
            second.start = Samples.time(4)
            second.kind = .internal
            second.request = nil
            var third = Samples.detail(3)
            third.traceID = first.traceID
            third.start = Samples.time(6)
            let (shop, payments) = (
                Samples.resource("shop", instance: "i-1"), Samples.resource("payments", instance: "i-2")
            )
            let batches = [
                DetailsBatch(resource: shop, details: [first, Samples.span(9), second]),
                DetailsBatch(resource: payments, details: [third]),
            ]
            _ = try await storage.store(batches, of: nil)
            #expect(
                try await storage.spans(ofTrace: first.traceID, limit: 3).spans.map(\.span) == [second, first, third])
            let cut = try await storage.spans(ofTrace: first.traceID, limit: 2)
            #expect(cut.spans.map(\.span) == [second, first])
            #expect(cut.spans.map(\.resource) == [shop, shop])
            #expect(cut.more == 1)
        }

        @Test func anUnknownTraceHasNoSpans() async throws {
            #expect(
                try await storage.spans(ofTrace: Samples.span(1).traceID, limit: 10) == TraceAnswer(spans: [], more: 0))
        }
    }
}
