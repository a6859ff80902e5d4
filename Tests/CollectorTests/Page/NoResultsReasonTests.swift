import Fixtures
import Foundation
import HummingbirdTesting
import MartletStorage
import MartletTelemetry
import Testing

@testable import MartletReports

/// A view, an API response and a command give the same reason for the same query. The reason is identified by its name in JSON.
@Suite struct NoResultsReasonTests {
    /// A query to a collector, and the words of its reason.
    struct Question: Sendable, CustomTestStringConvertible {
        var query: String
        var reason: String
        /// A part of the page's text.
        var page: String
        /// The first words of the text for a terminal.
        var text: String

        var testDescription: String { query }
    }

    /// Runs the body at `time(60)`. `checkout` sent five requests in the 10 s before `time(10)`, and nothing since `time(11)`.
    /// `idle` sent a batch without requests at `time(55)`.
    private func withSenders(_ body: @Sendable (any TestClientProtocol) async throws -> Void) async throws {
        let clock = Clock()
        clock.time = Samples.time(11)
        try await withServer(clock: { clock.time }) { client in
            _ = try await client.post(try Samples.body())
            clock.time = Samples.time(55)
            let batch = MetricsBatch(
                resource: Samples.resource("idle"), start: Samples.time(40), end: Samples.time(50), series: [:],
                ledger: Ledger())
            _ = try await client.post(try batch.otlp())
            try await body(client)
        }
    }

    private func report(_ query: String, of client: any TestClientProtocol) async throws -> Report {
        let response = try await client.get("/api/v1/report?\(query)")
        return try ReportJSON.value(of: Report.self, in: Data(buffer: response.body))
    }

    /// The name of a reason in JSON.
    private func name(_ reason: NoResultsReason?) throws -> String? {
        let json = try ReportJSON.text(of: try #require(reason))
        let object = try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any]
        return object?["reason"] as? String
    }

    static let questions = [
        Question(
            query: "since=20s&service=chekout", reason: "unknown_name",
            page: "No service is called chekout There are checkout and idle. The nearest is checkout .",
            text: "No service is called chekout. There are checkout and idle; nearest: checkout\n"),
        Question(
            query: "since=20s&service=checkout&compare=version%3A1.2..1.3", reason: "unknown_name",
            page: "No version is called 1.3 There is 1.2.", text: "No version is called 1.3. There is 1.2.\n"),
        Question(
            query: "since=20s&service=checkout&status=404", reason: "silent",
            page: "Nothing came from the chosen senders in the last 20 s The latest came 49 s ago , at",
            text: "Nothing came from --service checkout in the last 20 s. The latest came at 2026-09-21T14:13:31Z"),
        Question(
            query: "since=20s", reason: "idle", page: "No requests in the last 20 s The latest request came 50 s ago",
            text: "No requests in the last 20 s. The latest one came at 2026-09-21T14:13:30Z"),
        Question(
            query: "since=20s&method=GET", reason: "idle",
            page: "No request matches the filters in the last 20 s The latest request came 50 s ago",
            text: "No request matches --method GET in the last 20 s. The latest one came at 2026-09-21T14:13:30Z"),
        Question(
            query: "since=20s&service=idle", reason: "uncounted",
            page: "No requests came from the chosen senders in the last 20 s They were seen: their list .",
            text:
                "No requests came from --service idle in the last 20 s, but idle (i-1) was seen at 2026-09-21T14:14:15Z"
        ),
        Question(
            query: "since=20s&status=404", reason: "nothing_found",
            page: "No request matches the filters in the last 20 s Leave out a filter to see other requests",
            text: "No request matches --status 404 in the last 20 s. Without the filter:\n"),
    ]

    @Test(arguments: questions)
    func viewAndReportGiveTheSameReason(question: Question) async throws {
        try await withSenders { client in
            let report = try await report(question.query, of: client)
            #expect(try name(report.empty) == question.reason)
            var context = ReportContext()
            context.flags =
                URLComponents(string: "?\(question.query)")?.queryItems?.map {
                    CommandFlag($0.name, $0.value)
                } ?? []
            let text = NoResultsText.sentence(of: report, context)
            #expect(text.hasPrefix(question.text), "\(text)")
            let page = try await client.read("/?\(question.query)")
            #expect(page.text.contains(question.page), "\(page.text)")
        }
    }

    @Test func everyAnswerSaysThatNoAgentHasReported() async throws {
        try await withServer { client in
            #expect(try await report("service=checkout", of: client).empty == .nobodyReported)
            let map = try await client.get("/api/v1/map")
            #expect(try ReportJSON.value(of: MapReport.self, in: Data(buffer: map.body)).empty == .nobodyReported)
            let agents = try await client.get("/api/v1/agents")
            let senders = try ReportJSON.value(of: AgentsReport.self, in: Data(buffer: agents.body))
            #expect(senders.empty == .nobodyReported)
            for view in ["/", "/map", "/endpoint"] {
                #expect(try await client.read(view).text.contains("No agents have reported yet"))
            }
        }
    }

    // MARK: A clock that is ahead

    /// Runs the body at `time(60)`. The clock of `checkout` is five minutes ahead, and its first batch has just arrived, after the
    /// end of the page's windows.
    private func withFastClock(_ body: @Sendable (any TestClientProtocol) async throws -> Void) async throws {
        try await withServer(clock: { Samples.time(62) }) { client in
            let batch = MetricsBatch(
                resource: Samples.resource(), start: Samples.time(352), end: Samples.time(362),
                series: [Samples.dimensions(): Samples.statistics([0.1, 0.2, 0.3])],
                ledger: Ledger(captured: 3, waiting: 3))
            _ = try await client.post(try batch.otlp())
            try await body(client)
        }
    }

    @Test(arguments: ["", "since=15m", "since=6h", "since=7d", "since=30d", "service=checkout", "kind=client"])
    func clockThatIsAheadIsNamedWithAWindowThatHasRequests(query: String) async throws {
        try await withFastClock { client in
            let report = try await report(query, of: client)
            #expect(try name(report.empty) == "clock_ahead")
            let sentence = "The clock of web-1, where checkout runs, is at least 5.0 min ahead"
            let text = NoResultsText.sentence(of: report, ReportContext())
            #expect(
                text.hasSuffix(
                    """
                    \(sentence): its requests are dated too late, up to 2026-09-21T14:19:22Z. Set that clock. Until then:
                      martlet-collector report --since 2026-09-21T13:20:00Z --until 2026-09-21T14:20:00Z

                    """), "\(text)")
            let page = try await client.read("/?\(query)")
            #expect(page.text.contains("\(sentence), so its requests are dated too late, up to "), "\(page.text)")
            let address = try #require(page.links.first { $0.contains("until=2026-09-21T14%3A20") })
            #expect(try await client.read(address).text.contains("None of 3 requests failed"))
        }
    }

    @Test func clockThatIsAheadExplainsOnlyRequestsThatItDated() async throws {
        try await withFastClock { client in
            #expect(try await name(report("status=404", of: client).empty) == "nothing_found")
            let earlier = "since=2026-09-21T12:00:00Z&until=2026-09-21T13:00:00Z"
            #expect(try await name(report(earlier, of: client).empty) == "nothing_found")
            let map = try await client.get("/api/v1/map")
            #expect(try name(ReportJSON.value(of: MapReport.self, in: Data(buffer: map.body)).empty) == "clock_ahead")
        }
    }

    /// The clock is two seconds ahead, and the requests came half a minute after the window.
    @Test func clockThatIsAheadDoesNotExplainRequestsAfterAPastWindow() async throws {
        let clock = Clock()
        clock.time = Samples.time(5)
        try await withServer(clock: { clock.time }, now: { clock.time }) { client in
            func send(from start: UInt64, _ series: [RequestDimensions: RequestStatistics]) async throws {
                let batch = MetricsBatch(
                    resource: Samples.resource(), start: Samples.time(start), end: Samples.time(start + 10),
                    series: series, ledger: Ledger())
                _ = try await client.post(try batch.otlp())
            }
            try await send(from: 0, [:])
            clock.time = Samples.time(100)
            try await send(from: 92, [Samples.dimensions(): Samples.statistics([0.1])])
            clock.time = Samples.time(1000)
            let window = (from: TimeText.format(Samples.time(20)), to: TimeText.format(Samples.time(70)))
            let report = try await report("since=\(window.from)&until=\(window.to)", of: client)
            #expect(report.rows.isEmpty)
            #expect(try name(report.empty) != "clock_ahead")
        }
    }

    // MARK: Refused telemetry

    @Test func refusalOfEverythingIsNamedWithItsReason() async throws {
        try await withServer(clock: { Samples.time(58) }) { client in
            let batch = MetricsBatch(
                resource: Samples.resource(), start: Samples.time(0) / 1_000_000, end: Samples.time(10) / 1_000_000,
                series: [Samples.dimensions(): Samples.statistics([0.1])], ledger: Ledger(captured: 1, waiting: 1))
            _ = try await client.post(try batch.otlp())
            let why = "the time is in milliseconds; send it in nanoseconds"
            for query in ["", "service=checkout"] {
                let report = try await report(query, of: client)
                #expect(
                    report.empty
                        == .refused(.init(service: "checkout", instance: "i-1", lastSeen: Samples.time(60)), why: why))
                let text = NoResultsText.sentence(of: report, ReportContext())
                #expect(
                    text.contains(". The collector refused what checkout (i-1) sent, the latest at "), "\(text)")
                #expect(text.contains(": \(why).\n  martlet-collector agents"))
                let page = try await client.read("/?\(query)")
                #expect(page.text.contains("The collector refused what checkout sent, the latest 0 s ago: \(why)."))
                #expect(page.links.contains("/agents" + (query.isEmpty ? "" : "?\(query)")))
            }
            let earlier = "since=2026-09-21T12:00:00Z&until=2026-09-21T13:00:00Z"
            #expect(try await report(earlier, of: client).empty == .nobodyReported)
            // Once the sender is right, its requests count.
            _ = try await client.post(try Samples.body())
            #expect(try await report("", of: client).empty == nil)
            #expect(try await name(report("since=10s", of: client).empty) == "idle")
        }
    }

    @Test func answerWithRowsHasNoReasonButNamesUnknownNames() async throws {
        try await withSenders { client in
            let all = try await report("since=1m", of: client)
            #expect(all.empty == nil)
            #expect(all.unknownNames == nil)
            let some = try await report("since=1m&service=checkout&service=idl", of: client)
            #expect(some.empty == nil)
            #expect(
                some.unknownNames?.map(\.sentence) == [
                    "No service is called idl. There are checkout and idle; nearest: idle"
                ])
        }
    }

    /// The link leads to the same comparison with a version that exists.
    @Test func unknownVersionIsCorrectedInTheCompareParameter() async throws {
        try await withSenders { client in
            let page = try await client.read("/?since=20s&compare=version%3A1.1..1.22")
            #expect(page.text.contains("No version is called 1.22 There is 1.2. The nearest is 1.2 ."))
            #expect(page.links.contains("/?since=20s&compare=version%3A1.1..1.2"))
        }
    }

    @Test func reasonSurvivesJSON() throws {
        let sender = NoResultsReason.Sender(service: "shop", instance: "s-1", lastSeen: Samples.time(5))
        let name = try #require(UnknownName((.service, "shpo"), among: ["shop", "pay"]))
        for reason: NoResultsReason in [
            .nobodyReported, .unknownName(name), .silent(sender, latestRequest: nil),
            .refused(sender, why: "the time is in milliseconds"),
            .clockAhead(.init(sender: sender, host: "web-1", seconds: 300), latestRequest: Samples.time(1)),
            .clockAhead(.init(sender: sender, host: nil, seconds: 1.5), latestRequest: Samples.time(1)),
            .silent(sender, latestRequest: Samples.time(1)), .idle(latestRequest: Samples.time(1)), .uncounted(sender),
            .nothingFound,
        ] {
            let json = try ReportJSON.text(of: reason)
            #expect(try ReportJSON.value(of: NoResultsReason.self, in: Data(json.utf8)) == reason)
        }
    }

    /// The window is from `time(7000)` to `time(7300)`.
    @Test func latestRequestOfASilentSenderIsNamedIfItIsMuchOlder() {
        let window = TimeWindow(from: Samples.time(7000), to: Samples.time(7300))
        func reason(seen: UInt64, request: UInt64?) -> NoResultsReason {
            let sender = NoResultsReason.Sender(service: "shop", instance: "s-1", lastSeen: Samples.time(seen))
            return NoResultsReason(sender, latestRequest: request.map(Samples.time), in: window, [(.service, "shop")])
        }
        let silent = NoResultsReason.Sender(service: "shop", instance: "s-1", lastSeen: Samples.time(6900))
        #expect(reason(seen: 6900, request: 6800) == .silent(silent, latestRequest: nil))
        #expect(reason(seen: 6900, request: 100) == .silent(silent, latestRequest: Samples.time(100)))
        #expect(reason(seen: 7200, request: 6800) == .idle(latestRequest: Samples.time(6800)))
        // It reported after the window, which shows nothing about the window.
        #expect(reason(seen: 7400, request: nil) == .nothingFound)
    }
}
