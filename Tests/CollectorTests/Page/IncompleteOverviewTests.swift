import Fixtures
import Foundation
import HummingbirdTesting
import MartletTelemetry
import Testing

@testable import MartletReports

@Suite struct IncompleteOverviewTests {
    private static func batch(
        _ service: String, failed: Int, of count: Int, ledger: Ledger
    ) throws -> [UInt8] {
        var batch = MetricsBatch(
            resource: Samples.resource(service, instance: "\(service)-1"), start: Samples.time(40),
            end: Samples.time(50),
            series: [Samples.dimensions(): Samples.statistics(Array(repeating: 0.1, count: count - failed))],
            ledger: ledger)
        if failed > 0 {
            batch.series[Samples.dimensions(status: 503, error: "503")] =
                Samples.statistics(Array(repeating: 0.1, count: failed))
        }
        return try batch.otlp()
    }

    @Test func missingRequestsAddBoundsBelowTheRatesOfTheirServiceAndTheTotal() async throws {
        try await withServer(clock: { Samples.time(58) }) { client in
            _ = try await client.post(
                try Self.batch(
                    "shop", failed: 1, of: 4, ledger: Ledger(captured: 6, waiting: 4, dropped: [.bufferFull: 2])))
            _ = try await client.post(
                try Self.batch("stock", failed: 1, of: 4, ledger: Ledger(captured: 4, waiting: 4)))
            let page = try await client.read("/?since=1m")
            #expect(page.status == 200)
            #expect(page.text.contains("2 captured requests have not arrived"))
            #expect(page.text.contains("shop-1 : dropped 2 buffer_full."))
            // Two of the eight requests that arrived failed, and two missing ones may have failed.
            #expect(page.text.contains("25.00 % no trend yet 20.00–40.00 %"))
            // The row of the service has one failure in four requests, and two requests are missing. The other service has no
            // missing requests.
            #expect(page.text.contains("25.00 16.67–50.00"))
            #expect(page.text.ranges(of: "16.67–50.00").count == 2)
        }
    }

    @Test func completeWindowHasNoNoticeAndNoBounds() async throws {
        try await withServer(clock: { Samples.time(58) }) { client in
            _ = try await client.post(
                try Self.batch("shop", failed: 1, of: 4, ledger: Ledger(captured: 4, waiting: 4)))
            let page = try await client.read("/?since=1m")
            #expect(page.text.contains("1 of 4 requests failed"))
            #expect(!page.markup.contains("n-incomplete"))
            #expect(page.text.contains("nothing lost (100 %)"))
            #expect(page.markup.contains(#"title="All requests that agents captured in this window have arrived"#))
            #expect(!page.markup.contains("bounds"))
        }
    }
}

@Suite struct FailureBoundsTests {
    @Test func boundsAssumeThatNoneOrAllOfTheMissingFailed() throws {
        let bounds = try #require(FailureBounds(failed: 10, of: 90, missing: 10))
        #expect(bounds.lowest == 0.1)
        #expect(bounds.highest == 0.2)
        #expect(bounds.text == "10.00–20.00")
    }

    @Test func thereAreNoBoundsWithoutMissingRequests() {
        #expect(FailureBounds(failed: 1, of: 2, missing: 0) == nil)
    }

    @Test(arguments: [(0, 0, 1), (5, 3, 1), (.max, .max, .max), (0, .max, .max)] as [(UInt64, UInt64, UInt64)])
    func boundsOfAnyCountsAreInOrder(failed: UInt64, count: UInt64, missing: UInt64) throws {
        let bounds = try #require(FailureBounds(failed: failed, of: count, missing: missing))
        #expect(0 <= bounds.lowest && bounds.lowest <= bounds.highest && bounds.highest <= 1)
    }
}
