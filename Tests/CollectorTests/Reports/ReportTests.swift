import MartletStorage
import MartletTelemetry
import Testing

import struct Foundation.Data

@testable import MartletReports

@Suite struct ReportTests {
    /// Returns a report of these requests over a window of 100 seconds.
    private func report(
        _ points: [(RequestDimensions, [Double])], by: [Dimension] = [.endpoint], sort: GroupOrder.Measure = .impact,
        ascending: Bool = false, top: Int? = nil
    ) -> Report {
        let window = TimeWindow(from: Samples.time(0), to: Samples.time(100))
        let query = StatisticsQuery(window: window, by: by, order: GroupOrder(sort, ascending: ascending), limit: top)
        var groups: [[String?]: [(RequestDimensions, RequestStatistics)]] = [:]
        for (dimensions, seconds) in points {
            let values = query.grouping.map { $0.value(of: dimensions, from: Samples.resource()) }
            groups[values, default: []].append((dimensions, Samples.statistics(seconds, sent: 3, received: 5)))
        }
        return Report(
            StatisticsAnswer(
                query, window: window, sums: groups.map(Samples.group), account: Samples.account(window, arrived: 0.75)),
            for: query)
    }

    private func endpoints(of report: Report) -> [String] {
        report.rows.map { $0.text(of: .endpoint) }
    }

    @Test func figuresMatchTheRequests() throws {
        let report = report([
            (Samples.dimensions(), Array(repeating: 0.25, count: 8)),
            (Samples.dimensions(status: 503, error: "503"), [1]),
            (Samples.dimensions(status: nil, error: "timeout"), [3]),
        ])
        let row = try #require(report.rows.first).measures
        #expect(report.rows.count == 1)
        #expect(row.count == 10)
        #expect(row.perSecond == 0.1)
        #expect(row.failures.count == 2)
        #expect(row.failures.rate == 0.2)
        #expect([row.failures.transport, row.failures.http5xx, row.failures.http4xx] == [1, 1, 0])
        #expect(abs(row.latency.mean - 600) < 1e-9)
        #expect(abs(row.latency.p50 - 250) < 250 * 0.0028)
        #expect(abs(row.latency.p90 - 1000) < 1000 * 0.0028)
        #expect(row.latency.p99 == 3000)
        #expect(row.latency.max == 3000)
        #expect(row.apdex == 0.8)
        #expect(row.impact == 1)
        #expect([row.bytes.sent, row.bytes.received] == [9, 15])
        #expect(report.totals.measures == row)
        #expect(report.completeness == 0.75)
    }

    @Test func phasesAreMeansOverTheRequestsWithThePhase() throws {
        var (first, again) = (Samples.statistics([1]), Samples.statistics([1, 1, 1], sent: 0))
        first.phases = Samples.phases([.connect: (1, 0.5), .firstByte: (1, 0.25)])
        again.phases = Samples.phases([.firstByte: (3, 0.5)])
        let groups = [
            Samples.group(
                ["/a", "client"],
                [(Samples.dimensions(), first), (Samples.dimensions(status: 404, error: "404"), again)]),
            Samples.group(["/b", "client"], [(Samples.dimensions(), Samples.statistics([1]))]),
        ]
        let query = StatisticsQuery(window: Samples.everything, by: [.endpoint])
        let report = Report(
            StatisticsAnswer(
                query, window: Samples.everything, sums: groups, account: Samples.account(Samples.everything)),
            for: query)
        #expect(report.rows.map(\.measures.phases) == [["connect": 500, "first_byte": 187.5], [:]])
        #expect(report.totals.measures.phases == ["connect": 500, "first_byte": 187.5])
    }

    @Test func client4xxCountsAsAFailure() {
        let row = report([
            (Samples.dimensions(status: 404, error: "404"), [1, 1]),
            (Samples.dimensions(status: 500, error: "500"), [1]),
            (Samples.dimensions(status: nil, error: "hung"), [1]),
            (Samples.dimensions(status: nil, error: "cancelled"), [1, 1, 1]),
        ]).totals.measures.failures
        #expect(row.count == 4)
        #expect([row.http4xx, row.http5xx, row.hung, row.cancelled, row.transport] == [2, 1, 1, 3, 0])
    }

    @Test func server4xxDoesNotCountAsAFailure() {
        let row = report([
            (Samples.dimensions(.server, status: 404), [1, 1]),
            (Samples.dimensions(.server, status: 500, error: "500"), [1]),
        ]).totals.measures.failures
        #expect(row.count == 1)
        #expect([row.http4xx, row.http5xx] == [2, 1])
    }

    @Test func apdexCountsSlowRequestsHalfAndFailedOnesNot() {
        let row = report([
            (Samples.dimensions(), [0.1, 0.49, 0.6, 1.9, 2.1]), (Samples.dimensions(status: 500, error: "500"), [0.1]),
        ]).totals.measures
        #expect(row.apdex == 0.5)
    }

    @Test func impactIsTheShareOfAllTime() {
        let report = report([
            (Samples.dimensions(endpoint: "/many"), Array(repeating: 0.25, count: 12)),
            (Samples.dimensions(endpoint: "/slow"), [1]),
        ])
        #expect(endpoints(of: report) == ["/many", "/slow"])
        #expect(report.rows.map(\.measures.impact) == [0.75, 0.25])
    }

    @Test func rowsAreSortedByTheRequestedFigureAndTiesByName() {
        let points: [(RequestDimensions, [Double])] = [
            (Samples.dimensions(endpoint: "/b"), [1]), (Samples.dimensions(endpoint: "/a"), [1]),
            (Samples.dimensions(endpoint: "/c"), [0.1, 0.1]),
            (Samples.dimensions(endpoint: "/d", status: 500, error: "500"), [0.01]),
        ]
        #expect(endpoints(of: report(points)) == ["/a", "/b", "/c", "/d"])
        #expect(endpoints(of: report(points, ascending: true)) == ["/d", "/c", "/a", "/b"])
        #expect(endpoints(of: report(points, sort: .count)) == ["/c", "/a", "/b", "/d"])
        #expect(endpoints(of: report(points, sort: .failureRate)) == ["/d", "/a", "/b", "/c"])
        #expect(endpoints(of: report(points, sort: .max, ascending: true)) == ["/d", "/c", "/a", "/b"])
    }

    @Test func totalsIncludeRowsThatAreCutOff() {
        let report = report(
            [(Samples.dimensions(endpoint: "/a"), [1, 1]), (Samples.dimensions(endpoint: "/b"), [1])], top: 1)
        #expect(endpoints(of: report) == ["/a"])
        #expect(report.totals.measures.count == 3)
        #expect(report.totals.dimensions.isEmpty)
    }

    @Test func totalsOfClientsAndServersStayApart() {
        let report = report(
            [(Samples.dimensions(), [1, 1]), (Samples.dimensions(.server, status: 500, error: "500"), [2])],
            by: [.service],
            top: 1)
        #expect(report.rows.map(\.measures.count) == [3])
        #expect(report.totalsByKind.mapValues(\.measures.count) == [.client: 2, .server: 1])
        #expect(report.totalsByKind.mapValues(\.measures.failures.rate) == [.client: 0, .server: 1])
        #expect(report.totalsByKind.mapValues(\.measures.impact) == [.client: 0.5, .server: 0.5])
    }

    @Test func reportSurvivesJSON() throws {
        let report = report(
            [(Samples.dimensions(), [1, 1]), (Samples.dimensions(.server), [2])], by: [.kind, .status])
        let json = try ReportJSON.text(of: report)
        #expect(try ReportJSON.value(of: Report.self, in: Data(json.utf8)) == report)
    }

    @Test func figuresThatExceedDoubleAreStillJSON() throws {
        let sketch = try #require(
            ExponentialHistogram(
                scale: 0, sum: .greatestFiniteMagnitude, min: nil, max: nil, zeroCount: 0, offset: 1090, buckets: [2]))
        let group = Samples.group(["client"], [(Samples.dimensions(), RequestStatistics(duration: sketch))])
        let query = StatisticsQuery(window: Samples.everything, by: [])
        let answer = StatisticsAnswer(
            query, window: Samples.everything, sums: [group], account: Samples.account(Samples.everything))
        let report = Report(answer, for: query)
        #expect(try ReportJSON.text(of: report).contains("\"count\" : 2"))
    }
}
