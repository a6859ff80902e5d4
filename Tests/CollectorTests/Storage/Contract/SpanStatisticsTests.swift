import Fixtures
import MartletReports
import MartletStorage
import MartletTelemetry
import Testing

extension StorageContractTests {
    /// Senders that report their requests in spans.
    @Suite struct SpanStatisticsTests {
        private let folder: TemporaryFolder
        private let storage: any Storage

        init() async throws {
            folder = try TemporaryFolder()
            storage = try await StorageContractTests.makeStore(in: folder)
        }

        private func resource(_ agent: String? = "opentelemetry 1.38", version: String? = nil) -> TelemetryResource {
            TelemetryResource(service: "prices", version: version, instance: "p-1", agent: agent)
        }

        /// Sends spans of 250 ms. Each starts `number` tenths of a second after `time`.
        private func send(
            _ numbers: some Sequence<UInt8>, kind: RequestKind = .server, at time: UInt64 = 0,
            agent: String? = "opentelemetry 1.38"
        ) async throws {
            let spans = try numbers.map { number in
                var span = Samples.detail(number)
                span.traceID = try #require(TraceID(high: time + 1, low: UInt64(number)))
                span.request?.kind = kind
                span.start = Samples.time(time) + UInt64(number) * 100_000_000
                return span
            }
            _ = try await storage.store([DetailsBatch(resource: resource(agent), details: spans)], of: nil)
        }

        private func sendMetrics(
            _ count: Int, kind: RequestKind = .server, end: UInt64 = 10, version: String? = nil
        ) async throws {
            let point = Samples.point(Samples.dimensions(kind), Array(repeating: 0.25, count: count), end: end)
            _ = try await storage.store(
                [InstanceMetrics(resource: resource(version: version), points: [point])], of: nil)
        }

        private func report(from: UInt64 = 0, to: UInt64 = 100_000) async throws -> Report {
            let window = TimeWindow(from: Samples.time(from), to: Samples.time(to))
            let query = StatisticsQuery(window: window, by: [.service, .kind, .endpoint])
            return Report(try await storage.statistics(query), for: query)
        }

        @Test func metricsOfBodySizesOnlyDoNotReplaceSpans() async throws {
            try await send(1...20)
            var point = Samples.point(Samples.dimensions(.server), [], end: 10)
            point.statistics.bytesSent = 10
            _ = try await storage.store([InstanceMetrics(resource: resource(), points: [point])], of: nil)
            let report = try await report()
            #expect(report.totals.measures.count == 20)
        }

        @Test func statisticsOnlyFromSpansNameTheirSource() async throws {
            try await send(1...20)
            let report = try await report()
            let row = try #require(report.rows.first)
            #expect(report.rows.count == 1)
            #expect(row.measures.count == 20)
            #expect(row.measures.fromSpans == 20)
            #expect(row.measures.failures.http5xx == 20)
            #expect(row.measures.bytes.sent == 60)
            #expect(row.measures.bytes.received == 100)
            #expect(abs(row.measures.latency.p50 - 250) < 1)
            #expect(ReportTable.text(of: report).contains("20 requests counted from spans only"))
            let agents = AgentsReport(try await storage.agents(seenSince: 0, limit: 10), since: 0)
            #expect(agents.agents.map(\.statistics) == [["server": "spans"]])
            #expect(AgentsTable.text(of: agents).contains("counted from spans only"))
        }

        @Test func spansBelongToTheTimeInWhichTheyEnded() async throws {
            try await send(1...20, at: 0)
            try await send(1...5, at: 30)
            #expect(try await report(from: 0, to: 10).totals.measures.count == 20)
            #expect(try await report(from: 10, to: 30).totals.measures.count == 0)
            #expect(try await report(from: 30, to: 31).totals.measures.count == 5)
        }

        /// The spans are in one body.
        @Test(arguments: [(0, 5), (5, 10), (1, 2), (3, 9), (8, 9), (2, 8)] as [(UInt64, UInt64)])
        func windowOfSecondsHasExactlyTheSpansThatEndedInIt(from: UInt64, to: UInt64) async throws {
            // They end after 1.25, 4.25, 4.35 and 8.25 s.
            try await send([10, 40, 41, 80])
            let ends = [1.25, 4.25, 4.35, 8.25].count { $0 > Double(from) && $0 <= Double(to) }
            #expect(try await report(from: from, to: to).totals.measures.count == UInt64(ends))
        }

        @Test func spanSentTwiceCountsOnce() async throws {
            try await send(1...5)
            try await send(3...7)
            #expect(try await report().totals.measures.count == 7)
        }

        @Test func spansOfAMartletAgentNeverCount() async throws {
            try await send(1...5, agent: "martlet 0.1.0")
            #expect(try await report().rows.isEmpty)
        }

        @Test func metricsReplaceSpansOfTheSameRequestsInAnyOrder() async throws {
            try await send(1...10)
            #expect(try await report().totals.measures.count == 10)
            try await sendMetrics(10, version: "2")
            #expect(try await report().totals.measures.count == 10)
            #expect(try await report().totals.measures.fromSpans == nil)
            #expect(try await report().rows.count == 1, "spans that are left out make no row")
            try await send(1...10, at: 20)
            #expect(try await report().totals.measures.count == 10, "their metrics are on their way")
            try await sendMetrics(10, end: 30, version: "2")
            #expect(try await report().totals.measures.count == 20)
        }

        @Test func spansFromAGapInMetricsStillCountWhenMetricsReturn() async throws {
            let day: UInt64 = 86_400
            try await sendMetrics(10)
            try await send(1...10, at: day)
            #expect(try await report().totals.measures.count == 20)
            try await sendMetrics(5, end: 3 * day)
            #expect(try await report(to: 4 * day).totals.measures.count == 25)
            // Late metrics for the time in between exclude its spans again.
            try await sendMetrics(10, end: day + 10)
            #expect(try await report(to: 4 * day).totals.measures.count == 25)
            #expect(try await report(to: 4 * day).totals.measures.fromSpans == nil)
        }

        @Test func metricsOfOneKindDoNotReplaceSpansOfTheOther() async throws {
            try await send(1...10, kind: .client)
            try await send(11...15, kind: .server)
            try await sendMetrics(5, kind: .server)
            let counts = try await report().rows.reduce(into: [:]) {
                $0[$1.dimensions[.kind] ?? nil] = $1.measures.count
            }
            #expect(counts == ["client": 10, "server": 5])
            #expect(try await report().totals.measures.fromSpans == 10)
            #expect(try await storage.agents().map(\.statistics) == [[.client: .spans, .server: .metrics]])
        }

        @Test func spansLongAfterTheLastMetricsCount() async throws {
            try await sendMetrics(5)
            try await send(1...10, at: 7200)
            #expect(try await report().totals.measures.count == 15)
        }

        @Test func spanEndingJustBeforeTheFirstMeasurementBelongsToTheSameRequest() async throws {
            try await send(1...1, at: 12)
            var point = Samples.point(Samples.dimensions(.server), [0.25], end: 20)
            // The span ended after 12.35 s.
            point.start = Samples.time(12) + 351_000_000
            _ = try await storage.store([InstanceMetrics(resource: resource(), points: [point])], of: nil)
            #expect(try await report().totals.measures.count == 1)
            #expect(try await report().totals.measures.fromSpans == nil)
        }

        @Test func spansBeforeTheFirstMetricsCount() async throws {
            try await send(1...10, at: 0)
            try await sendMetrics(5, end: 60)
            #expect(try await report().totals.measures.count == 15)
        }
    }
}
