import Fixtures
import MartletSQLiteStorage
import MartletStorage
import MartletTelemetry
import Testing

@testable import MartletFindings
@testable import MartletPage
@testable import MartletReports

/// What happened, at the top of the overview.
@Suite struct FindingsListTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    /// The slot that begins some minutes after 16:00.
    private static func slot(_ minute: Int) -> Slot { Int(ComparedStore.window.from / 10_000_000_000) + 6 * minute }

    private static let payments = Finding(
        id: "f-1", kind: .failing, since: slot(31), until: slot(33), isOpen: false,
        title: "POST /payments of payments.internal:443 failed from 16:31 to 16:33 in 100 % of 960 requests",
        subject: FindingSubject(
            service: "storefront", kind: .client, method: "POST", host: "payments.internal:443", endpoint: "/payments"),
        cost: FindingCost(requests: 960, seconds: 0, processes: 0),
        before: FindingCounts(count: 1410, failures: 0), after: FindingCounts(count: 960, failures: 960),
        who: [FindingCarrier(dimension: .version, value: "1.9.0", shareOfBad: 0.98, shareOfAll: 0.31)],
        what: [FailureForm(dimension: .status, value: "503", count: 960)], side: nil, deployment: nil,
        also: [FindingSubject(service: "edge", kind: .server, method: "POST", endpoint: "/buy")],
        command: "martlet-collector report --service storefront --endpoint /payments",
        page: "/endpoint?service=storefront&kind=client&method=POST&host=payments.internal%3A443&endpoint=%2Fpayments"
            + "&since=2026-09-21T16%3A01%3A00Z&until=2026-09-21T17%3A03%3A00Z")

    private static func ended(_ service: String) -> Finding {
        Finding(
            id: "f-2", kind: .ended, since: slot(17), until: nil, isOpen: true,
            title: "\(service) ended without shutdown 8 times since 16:17", subject: FindingSubject(service: service),
            cost: FindingCost(requests: 0, seconds: 0, processes: 8), before: nil, after: nil, who: [], what: [],
            side: nil, deployment: nil, also: [], command: "martlet-collector agents", page: "/agents?service=files")
    }

    private static let window = [
        ("since", TimeText.format(ComparedStore.window.from)), ("until", TimeText.format(ComparedStore.window.to)),
    ]

    private func overview(_ answer: FindingsAnswer?, _ parameters: [(String, String)] = []) async throws -> ReadPage {
        let pageRequest = try PageRequest(.overview, Self.window + parameters, now: ComparedStore.window.to)
        let store = try await ComparedStore(in: folder).storage
        let html = try await Overview(pageRequest, in: store, findings: answer).html
        return ReadPage(status: 200, markup: String(decoding: html.bytes, as: UTF8.self))
    }

    @Test func findingsAreTheFirstThingInTheirOrder() async throws {
        let page = try await overview(FindingsAnswer(findings: [Self.payments, Self.ended("files")], count: 2))
        let parts = [
            "2 things happened in this hour, 1 is ongoing", "failing over", Self.payments.title,
            "Version 1.9.0 carries it: 98 % of the failed requests, 31 % of all. 503 in 960 of 960 failures.",
            "Fail with it: edge POST /buy", "16:31 to 16:33", "960 requests affected",
            Self.payments.command, "process ended ongoing", "files ended without shutdown 8 times since 16:17",
            "since 16:17", "8 processes", "2 of 6 endpoints are worse, compared with the hour before.",
        ]
        var rest = page.text[...]
        for part in parts {
            let place = try #require(rest.firstRange(of: part), "\(part)")
            rest = rest[place.upperBound...]
        }
        #expect(page.markup.ranges(of: "<h1>").count == 1)
    }

    @Test func carrierOfAnotherServiceIsNamedWithIt() async throws {
        var finding = Self.payments
        finding.who[0].service = "payments"
        let page = try await overview(FindingsAnswer(findings: [finding], count: 1))
        #expect(page.text.contains("Version 1.9.0 of payments carries it: 98 % of the failed requests, 31 % of all."))
    }

    @Test func findingLeadsToItsFiguresItsRequestsAndItsCommand() async throws {
        let answer = FindingsAnswer(findings: [Self.payments, Self.ended("files")], count: 2)
        let page = try await overview(answer)
        #expect(page.links.contains(Self.payments.page))
        #expect(
            page.links.contains {
                $0.hasPrefix("/requests?service=storefront&kind=client&method=POST&host=payments.internal%3A443")
                    && $0.hasSuffix("&since=2026-09-21T16%3A31%3A00Z&until=2026-09-21T16%3A33%3A00Z&failed=true")
            })
        #expect(page.links.contains { $0.hasPrefix("/agents?") && $0.hasSuffix("&service=files") })
        #expect(page.links.contains { $0.hasPrefix("/endpoint?") && $0.contains("service=edge&kind=server") })
        let window = "--since 2026-09-21T16:00:00Z --until 2026-09-21T17:00:00Z"
        #expect(page.commands.first == "martlet-collector findings \(window)")
        let filtered = try await overview(answer, [("environment", "test")])
        #expect(
            filtered.links.contains(
                "/endpoint?environment=test&" + String(Self.payments.page.dropFirst("/endpoint?".count))))
        #expect(filtered.commands.first == "martlet-collector findings \(window) --environment test")
    }

    @Test func barsOfTheFindingAreMarked() async throws {
        let page = try await overview(FindingsAnswer(findings: [Self.payments, Self.ended("files")], count: 2))
        // Two of the row's minutes are the finding's. A process has no row.
        #expect(page.markup.ranges(of: #"class="timeline""#).count == 1)
        #expect(page.markup.ranges(of: #"<rect class="on""#).count == 2)
        #expect(page.markup.ranges(of: #"<rect class="off""#).count == 58)
    }

    @Test func namesOfSendersAreEscaped() async throws {
        let hostile = KeptRequests.hostile
        let page = try await overview(FindingsAnswer(findings: [Self.ended(hostile)], count: 1))
        #expect(page.text.contains("1 thing happened in this hour and is ongoing"))
        #expect(page.markup.contains("&lt;mark&gt;"))
        #expect(!page.markup.contains("<mark>"))
        #expect(!page.markup.unicodeScalars.contains("\u{202e}"))
    }

    @Test func onlyTheMostExpensiveAreShown() async throws {
        let page = try await overview(FindingsAnswer(findings: [Self.payments, Self.ended("files")], count: 12))
        #expect(
            page.text.contains("12 things happened in this hour The 2 most expensive are shown, 1 of them ongoing."))
    }

    @Test func quietHourIsOneLineAboveTheAnswer() async throws {
        let end = ComparedStore.window.from - 180_000_000_000
        let page = try await overview(FindingsAnswer(findings: [], count: 0, quietSince: end))
        #expect(page.text.contains("No findings in this hour The last one ended at 15:57. 2 of 6 endpoints are worse"))
        #expect(!page.markup.contains(#"class="findings""#))
    }

    @Test func answerThatIsNotCompleteSaysSo() async throws {
        let reading =
            "Findings may be missing: the collector has just started, or the window begins more than 30 days ago."
        let quiet = try await overview(FindingsAnswer(findings: [], count: 0, isComplete: false))
        #expect(quiet.text.contains("No findings so far \(reading)"))
        let page = try await overview(FindingsAnswer(findings: [Self.payments], count: 1, isComplete: false))
        #expect(page.text.contains("1 thing happened in this hour \(reading)"))
    }

    @Test func overviewWithoutAWatchHasNoFindings() async throws {
        let page = try await overview(nil)
        #expect(!page.text.contains("indings"))
        #expect(page.markup.ranges(of: "<h1>").count == 1)
    }

    @Test func chartsOfAnEndpointMarkTheBeginningOfAFinding() async throws {
        let store = try await ComparedStore(in: folder).storage
        let row = [("service", "storefront"), ("method", "POST"), ("endpoint", "/payments")]
        let pageRequest = try PageRequest(.endpoint, Self.window + row, now: ComparedStore.window.to)
        let answer = FindingsAnswer(findings: [Self.payments], count: 1)
        let html = try await Endpoint(pageRequest, in: store, findings: answer).html
        #expect(String(decoding: html.bytes, as: UTF8.self).contains(">failing</text>"))
    }
}
