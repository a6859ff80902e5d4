import Fixtures
import Foundation
import MartletReports
import MartletStorage
import MartletTelemetry
import Testing

@Suite struct ReportParametersTests {
    private let now = Samples.time(0)

    @Test func defaultReportIsTheLastHourByEndpoint() throws {
        let query = try ReportParameters([]).query(now: now)
        #expect(query.window == TimeWindow(from: now - 3_600_000_000_000, to: now))
        #expect(query.by == [.service, .kind, .method, .host, .endpoint])
        #expect(query.filter == RequestFilter())
        #expect(query.order == GroupOrder(.impact))
        #expect(query.limit == nil)
        #expect(query.step == nil)
    }

    /// All reports of one second are about the same requests.
    @Test func windowThatEndsNowEndsWithItsSecond() throws {
        let (now, second) = (Samples.time(0) + 300_000_000, 1_000_000_000 as UInt64)
        func window(_ parameters: [(String, String)]) throws -> TimeWindow {
            try ReportParameters(parameters).query(now: now).window
        }
        let end = Samples.time(1)
        #expect(try window([("since", "90s")]) == TimeWindow(from: end - 90 * second, to: end))
        #expect(try window([("since", "500ms")]) == TimeWindow(from: now - second / 2, to: end))
        #expect(try window([("since", "2026-09-21T14:13:10Z")]) == TimeWindow(from: end - 11 * second, to: end))
        #expect(
            try window([("since", "2m"), ("until", "1m")])
                == TimeWindow(from: now - 120 * second, to: now - 60 * second))
    }

    @Test func everyParameterIsUsed() throws {
        let query = try ReportParameters([
            ("since", "2h"), ("until", "1h"), ("service", "s"), ("service", "t"), ("environment", "e"),
            ("kind", "server"),
            ("method", "PUT"), ("host", "h:1"), ("endpoint", "/e"), ("status", "4XX"), ("error", "timeout"),
            ("version", "1"), ("instance", "i"), ("by", "status,error"), ("by", "instance"), ("by", "error"),
            ("sort", "failure-rate"), ("ascending", "true"), ("top", "7"), ("step", "1m"),
        ]).query(now: now)
        let filter = RequestFilter([
            .service: ["s", "t"], .environment: ["e"], .kind: ["server"], .method: ["PUT"], .host: ["h:1"],
            .endpoint: ["/e"], .status: ["4xx"], .error: ["timeout"], .version: ["1"], .instance: ["i"],
        ])
        let window = TimeWindow(from: now - 7_200_000_000_000, to: now - 3_600_000_000_000)
        #expect(
            query
                == StatisticsQuery(
                    window: window, filter: filter, by: [.status, .error, .instance],
                    order: GroupOrder(.failureRate, ascending: true), limit: 7, step: 60_000_000_000))
    }

    @Test(
        arguments: [
            ("500ms", 500_000_000), ("90s", 90_000_000_000), ("30m", 1_800_000_000_000), ("1h", 3_600_000_000_000),
            ("7d", 604_800_000_000_000), ("0s", 0), ("1.5s", 1_500_000_000), ("1.5h", 5_400_000_000_000),
            ("0.25ms", 250_000), ("0.000000001s", 1), ("2.000000001s", 2_000_000_001), ("0.000000001d", 86_400),
            ("1.50m", 90_000_000_000), ("3.0ns", 3),
        ] as [(String, UInt64)])
    func durationIsATimeAgo(text: String, nanoseconds: UInt64) {
        #expect(TimeText.parse(text, now: now) == now - nanoseconds)
    }

    @Test(
        arguments: [
            ("2026-09-21T14:13:20Z", 0), ("2026-09-21T16:13:30+02:00", 10_000_000_000),
            ("2026-09-21T14:13:20.25Z", 250_000_000), ("2026-09-21t08:43:20.000000001999-05:30", 1),
            ("2026-09-21T14:13:20-00:00", 0), ("2026-09-22T14:13:19+23:59", 59_000_000_000),
            ("2028-02-29T00:00:00z", 45_395_200_000_000_000), ("2027-01-01T00:00:00Z", 8_761_600_000_000_000),
        ] as [(String, UInt64)])
    func rfc3339IsATime(text: String, afterNow: UInt64) {
        #expect(TimeText.parse(text, now: now) == now + afterNow)
    }

    @Test(arguments: [
        "", "h", "-1h", "1500", "1.5", "1.s", ".5s", ".s", "1..5s", "1.5.5s", "1.-5s", "1.+5s", "1,5s", "1.5 s", "1.٥s",
        "0.5ns", "0.0000001ms", "0.0000000001s", "1.0000000000s", "1w", "1 h", "yesterday", "2026-09-21",
        "2026-09-21T14:13:20", "2026-13-21T14:13:20Z",
        "99999999999999999999d", "999999d", "2026-11-31T00:00:00Z", "2026-02-29T00:00:00Z", "2100-02-29T00:00:00Z",
        "2026-00-21T14:13:20Z", "2026-09-00T14:13:20Z", "2026-09-21T24:00:00Z", "2026-11-21T27:00:00Z",
        "2026-11-21T09:75:00Z", "2016-12-31T23:59:60Z", "2026-11-21T09:00:00Z-1h", "2026-11-21T09:00:00Zxyz",
        "2026-11-21T09:00:00Z/2026-11-21T10:00:00Z", "2026-11-21T09:00:00-1h", "2026-11-21T09:00:00Z ",
        " 2026-11-21T09:00:00Z", "2026-11-21 09:00:00Z", "2026-11-21T09:00Z", "2026-11-21T9:00:00Z",
        "2026-11-21T09:00:00.Z", "2026-11-21T09:00:00,5Z", "2026-11-21T09:00:00+0200", "2026-11-21T09:00:00+02",
        "2026-11-21T09:00:00+24:00", "2026-11-21T09:00:00+01:60", "2026-11-21T09:00:00 02:00", "20261121T090000Z",
        "+2026-11-21T09:00:00Z", "2026-11-21T09:00:0٣Z", "1969-12-31T23:59:59Z", "1970-01-01T00:30:00+01:00",
        "0000-02-28T00:00:00Z", "9999-12-31T23:59:59Z",
    ])
    func otherTextsAreNotTimes(text: String) {
        #expect(TimeText.parse(text, now: now) == nil)
    }

    @Test func everyWrittenTimeCanBeRead() {
        var numbers = SeededGenerator(seed: 1)
        // The times go up to the year 2255, and include leap days and ends of years.
        for _ in 0..<20_000 {
            let time = UInt64.random(in: 0..<9_000_000_000, using: &numbers) * 1_000_000_000
            #expect(TimeText.parse(TimeText.format(time), now: now) == time)
            let date = Date(timeIntervalSince1970: Double(time / 1_000_000_000))
            #expect(TimeText.format(time) == date.formatted(.iso8601))
            let exact = time + UInt64.random(in: 0..<1_000_000_000, using: &numbers)
            #expect(TimeText.parse(TimeText.exact(exact), now: now) == exact)
            #expect(TimeText.exact(time) == TimeText.format(time))
            #expect(TimeText.inSeconds(TimeText.exact(exact)) == TimeText.format(time))
        }
    }

    @Test func windowThatEndsBeforeItStartsIsRefused() {
        #expect(throws: ParameterError.self) {
            try ReportParameters([("since", "1h"), ("until", "2h")]).query(now: now)
        }
    }

    @Test func windowHasAtMost800Days() throws {
        _ = try ReportParameters([("since", "800d")]).query(now: now)
        _ = try ReportParameters([("since", "900d"), ("until", "100d")]).query(now: now)
        for (since, until) in [("801d", "0s"), ("1970-01-02T00:00:00Z", "0s"), ("1h", "2199-01-01T00:00:00Z")] {
            #expect(throws: ParameterError("since and until must be at most 800 days apart")) {
                try ReportParameters([("since", since), ("until", until)]).query(now: now)
            }
        }
    }
}
