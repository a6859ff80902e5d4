import Fixtures
import Foundation
import HummingbirdTesting
import MartletTelemetry
import Testing

@Suite struct NoResultsViewTests {
    /// Runs a collector at `Samples.time(60)`. `checkout` sent it five requests, in the ten seconds before `time(10)`.
    private func withRequests(
        at arrival: UnixNanoseconds = Samples.time(11), _ body: @Sendable (any TestClientProtocol) async throws -> Void
    ) async throws {
        try await withServer(clock: { arrival }) { client in
            _ = try await client.post(try Samples.body())
            try await body(client)
        }
    }

    @Test func collectorWithoutDataShowsTheFirstSteps() async throws {
        try await withServer { client in
            let page = try await client.read("/")
            #expect(page.status == 200)
            #expect(page.text.contains("No agents have reported yet"))
            #expect(page.text.contains(#".product(name: "Martlet", package: "martlet")"#))
            #expect(page.text.contains("let agent = MartletAgent.start()"))
            #expect(page.text.contains(#/MARTLET_ENDPOINT=http:\/\/(localhost|127\.0\.0\.1)(:\d+)? \.\/checkout/#))
            #expect(page.text.contains("Agents report every 10 s,"))
            #expect(!page.markup.contains("class=\"scope\""))
        }
    }

    @Test func windowWithoutDataLinksToTheLatestData() async throws {
        try await withRequests { client in
            let page = try await client.read("/?since=20s")
            #expect(page.text.contains("Nothing came in the last 20 s"))
            #expect(page.text.contains("The latest came 49 s ago , at 2026-09-21T14:13:31Z, from checkout."))
            let address = "/?since=2026-09-21T13%3A14%3A00Z&until=2026-09-21T14%3A14%3A00Z"
            #expect(page.links.contains(address))
            let latest = try await client.read(address)
            #expect(latest.text.contains("None of 5 requests failed"))
        }
    }

    @Test func nearestNameIsSuggestedForAMisspeltOne() async throws {
        try await withRequests { client in
            let page = try await client.read("/?since=5m&service=chekout")
            #expect(page.text.contains("No service is called chekout"))
            #expect(page.text.contains("There is checkout. The nearest is checkout"))
            #expect(page.links.contains("/?since=5m&service=checkout"))
            #expect(page.links.contains("/?since=5m"))
        }
    }

    @Test(arguments: [("/", "report"), ("/endpoint", "report"), ("/map", "map"), ("/requests", "requests")])
    func emptyViewEndsWithTheMatchingCommand(view: String, command: String) async throws {
        try await withRequests { client in
            let page = try await client.read("\(view)?since=5m&service=chekout")
            let wanted = "martlet-collector \(command) --since 5m --service chekout"
            #expect(page.commands.contains { $0.hasPrefix(wanted) }, "\(page.commands)")
        }
    }

    @Test func nearestNameIsSuggestedOnTheEndpointPage() async throws {
        try await withRequests { client in
            let page = try await client.read("/endpoint?since=5m&service=chekout&method=GET")
            #expect(page.text.contains("No service is called chekout There is checkout. The nearest is checkout"))
            #expect(page.links.contains("/endpoint?since=5m&service=checkout&method=GET"))
        }
    }

    @Test(arguments: ["/requests", "/", "/agents", "/map"])
    func choicesSayThatNobodyHasTheChosenName(view: String) async throws {
        try await withRequests { client in
            let page = try await client.read("\(view)?since=5m&service=chekout")
            #expect(page.markup.contains(#"<option value="chekout" selected>chekout (never seen)</option>"#))
            #expect(page.text.contains("No service chekout was ever seen; the nearest is checkout ."))
            #expect(page.links.contains("\(view)?since=5m&service=checkout"))
            let known = try await client.read("\(view)?since=5m&service=checkout")
            #expect(!known.text.contains("ever seen"))
        }
    }

    @Test func pageSaysThatAHostWasNeverCalled() async throws {
        try await withRequests { client in
            let page = try await client.read("/requests?since=5m&host=api.exampel.com")
            #expect(page.text.contains("api.exampel.com (never seen)"))
            #expect(page.text.contains("No host api.exampel.com was ever seen; the nearest is api.example.com ."))
        }
    }

    @Test func serviceSeenBeforeTheWindowIsKnown() async throws {
        try await withRequests(at: Samples.time(11)) { client in
            let page = try await client.read("/?since=20s&service=checkout")
            #expect(!page.text.contains("ever seen"))
        }
    }

    @Test func silentServiceHasADifferentReasonThanUnmatchedFilters() async throws {
        try await withRequests { client in
            let silent = try await client.read("/?since=20s&service=checkout")
            #expect(silent.text.contains("Nothing came from the chosen senders in the last 20 s"))
            #expect(silent.text.contains("The latest came 49 s ago"))
        }
    }

    @Test func sendersWithoutRequestsLinkToTheAgentList() async throws {
        try await withServer(clock: { Samples.time(58) }) { client in
            let batch = MetricsBatch(
                resource: Samples.resource("idle"), start: Samples.time(40), end: Samples.time(50), series: [:],
                ledger: Ledger())
            _ = try await client.post(try batch.otlp())
            let page = try await client.read("/?since=1m&service=idle")
            #expect(page.text.contains("No requests came from the chosen senders in the last 1 min"))
            #expect(page.links.contains("/agents?since=1m&service=idle"))
            let filtered = try await client.read("/?since=1m&service=idle&method=GET")
            #expect(!filtered.text.contains("from the chosen senders"))
        }
    }

    @Test func latestRequestIsShownIfItsSenderStillReports() async throws {
        let clock = Clock()
        clock.time = Samples.time(11)
        try await withServer(clock: { clock.time }) { client in
            _ = try await client.post(try Samples.body())
            clock.time = Samples.time(55)
            let batch = MetricsBatch(
                resource: Samples.resource(), start: Samples.time(40), end: Samples.time(50), series: [:],
                ledger: Ledger())
            _ = try await client.post(try batch.otlp())
            let idle = try await client.read("/?since=20s")
            #expect(idle.text.contains("No requests in the last 20 s"))
            #expect(idle.text.contains("The latest request came 50 s ago , at 2026-09-21T14:13:30Z."))
            let address = "/?since=2026-09-21T13%3A14%3A00Z&until=2026-09-21T14%3A14%3A00Z"
            #expect(idle.links.contains(address))
            let filtered = try await client.read("/?since=20s&method=GET")
            #expect(filtered.text.contains("matches the filters in the last 20 s The latest request came 50 s ago "))
            let never = try await client.read("/?since=20s&method=GET&status=404")
            #expect(!never.text.contains("The latest request"))
            let list = try await client.read("/requests?since=20s&failed=true")
            #expect(list.text.contains("No such request in the last 20 s."))
            #expect(list.text.contains("No request was counted either. The latest request came 50 s ago ,"))
            let live = try await client.read("/requests?since=20s&failed=true&live=on")
            #expect(!live.text.contains("The latest request came"))
        }
    }

    @Test(arguments: ["/", "/endpoint", "/map", "/requests"])
    func windowAtTheBeginningOfTimeIsEmpty(view: String) async throws {
        try await withRequests { client in
            let page = try await client.read("\(view)?since=1970-01-01T00%3A00%3A00Z&until=1970-01-02T00%3A00%3A00Z")
            #expect(page.status == 200)
            #expect(!page.text.contains("The latest request came"))
        }
    }

    @Test func filtersThatMatchNothingCanBeRemovedOneByOne() async throws {
        try await withRequests { client in
            let page = try await client.read("/?since=5m&method=GET&status=404")
            #expect(page.text.contains("No request matches the filters in the last 5 min"))
            #expect(page.links.contains("/?since=5m&method=GET"))
            #expect(page.links.contains("/?since=5m&status=404"))
        }
    }

    @Test func filterNameCannotBecomeMarkup() async throws {
        try await withRequests { client in
            let page = try await client.read("/?service=%3C%D8%80b%3E")
            #expect(page.status == 200)
            #expect(page.markup.range(of: "<\u{600}b", options: .literal) == nil)
        }
    }
}
