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

        @Test func traceIsReadBackUnchangedWithItsSenders() async throws {
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

        @Test func failedSpansOfATraceAreTakenFirst() async throws {
            let trace = Samples.span(1).traceID
            func span(_ number: UInt8, isError: Bool = false, error: String? = nil) -> SpanRecord {
                var span = Samples.span(number)
                (span.traceID, span.start, span.isError) = (trace, Samples.time(UInt64(number)), isError)
                span.request = error.map { Samples.dimensions(error: $0) }
                return span
            }
            let spans = [
                span(1), span(2), span(3, isError: true, error: "cancelled"), span(4, error: "timeout"),
                span(5, isError: true),
            ]
            _ = try await storage.store([DetailsBatch(resource: Samples.resource(), details: spans)], of: nil)
            let cut = try await storage.spans(ofTrace: trace, limit: 3)
            #expect(cut.spans.map(\.span) == [spans[0], spans[3], spans[4]])
            #expect(cut.more == 2)
            #expect(try await storage.spans(ofTrace: trace, limit: 1).spans.map(\.span) == [spans[3]])
        }

        @Test func unknownTraceHasNoSpans() async throws {
            #expect(
                try await storage.spans(ofTrace: Samples.span(1).traceID, limit: 10) == TraceAnswer(spans: [], more: 0))
        }
    }
}
