import Fixtures
import Foundation
import MartletReports
import MartletStorage
import Testing

/// Reports of a service with the agent, compared with the figures of the server and the caller.
@Suite(.serialized) struct ReportTruthTests {
    let folder: TemporaryFolder
    let collector: CollectorProcess
    let probe: Probe
    let shop = ShopServer()

    init() async throws {
        folder = try TemporaryFolder()
        collector = try await CollectorProcess(store: folder.path("collector.sqlite"))
        probe = Probe(folder: folder, collector: collector.address)
    }

    @Test func everyRequestCountsOnceWithTheServersFailures() async throws {
        try await shop.run { server in
            let result = try await probe.finish(try probe.start(server, requests: 60))
            #expect(result.requests == 360)
            #expect(result.captured == 360)
            #expect(result.delivered == 360)
            let report = try await probe.report(["--by", "method", "--by", "endpoint", "--by", "status"])
            var reported: [String: Int] = [:]
            for row in report.rows where row.shown(.endpoint) != "/nobody" {
                let answer = "\(row.shown(.method)) \(row.shown(.endpoint)) \(row.shown(.status))"
                reported[answer] = Int(row.measures.count)
            }
            #expect(reported == shop.answered)
            #expect(report.completeness == 1)
            #expect(report.totals.measures.count == 360)
            let failures = report.totals.measures.failures
            #expect(failures.http4xx == 60)
            #expect(failures.http5xx == 60)
            #expect(failures.transport == 60)
            #expect(failures.rate == 0.5)
        }
    }

    /// The agent's duration of a request is at most the caller's and at least the server's. The same holds for all quantiles,
    /// even on a busy machine.
    @Test func quantilesLieBetweenTheMeasurementsOfServerAndCaller() async throws {
        try await shop.run { server in
            let result = try await probe.finish(try probe.start(server, requests: 120, concurrency: 6))
            let called = try #require(result.milliseconds["/users/{id}"])
            let served = try #require(shop.milliseconds["GET /users/{id} 200"])
            let report = try await probe.report(["--endpoint", "/users/{id}"])
            let latency = try #require(report.rows.first).measures.latency
            for (share, reported) in [(0.5, latency.p50), (0.9, latency.p90), (0.99, latency.p99)] {
                let (least, most) = (quantile(share, of: served), quantile(share, of: called))
                #expect(
                    reported > least * 0.997 && reported < most * 1.003, "\(share): \(reported) of \(least)...\(most)")
            }
        }
    }

    @Test(.disabled(if: TestedStore.isClickHouse, "the bytes of a file are searched"))
    func storeHasNoQueryAndNoUploadOfTheAgent() async throws {
        try await shop.run { server in
            _ = try await probe.finish(try probe.start(server, requests: 20))
            let endpoints = Set(try await probe.report(["--by", "endpoint"]).rows.map { $0.shown(.endpoint) })
            #expect(
                endpoints == [
                    "/users/{id}", "/orders/{id}/items", "/missing/{id}", "/broken", "/posted", "/nobody",
                ])
        }
        _ = await collector.terminate()
        let store = try Data(contentsOf: URL(fileURLWithPath: folder.path("collector.sqlite")))
        #expect(store.range(of: Data("/users/".utf8)) != nil)
        #expect(store.range(of: Data("secret".utf8)) == nil)
    }

    /// Returns a quantile by the nearest rank, as the report does.
    private func quantile(_ share: Double, of times: [Double]) -> Double {
        times.sorted()[Int((share * Double(times.count)).rounded(.up)) - 1]
    }
}

extension ReportRow {
    /// Returns the dimension's value, or `-` if the row has none.
    func shown(_ dimension: MartletStorage.Dimension) -> String { (dimensions[dimension] ?? nil) ?? "-" }
}
