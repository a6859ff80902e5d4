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
