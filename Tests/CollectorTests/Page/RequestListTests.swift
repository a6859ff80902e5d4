import Fixtures
import HummingbirdTesting
import MartletTelemetry
import Testing

@Suite struct RequestListTests {
    private func send(_ count: UInt8, to client: any TestClientProtocol) async throws {
        try await KeptRequests.send(
            (1...count).map { KeptRequests.span($0, at: UInt64($0), milliseconds: 100 * UInt64(1 + count - $0)) },
            to: client)
    }

    @Test func rowHasTheMainFieldsAndLinksToItsRequest() async throws {
        try await withServer { client in
            try await send(1, to: client)
            let page = try await client.read("/requests?since=30m&service=checkout")
            #expect(page.status == 200)
            #expect(
                page.text.contains(
                    "14:13:21.000 GET /users/7 503 100 checkout api.example.com:443 01000000 1 of 1"))
            let id = try await KeptRequests.id(from: client)
            #expect(page.links.contains("/requests/\(id)?since=30m&service=checkout"))
            #expect(
                page.links.contains("/traces/01000000000000000000000000000001?since=30m&service=checkout"))
        }
    }

    @Test func headingSaysHowManyOfTheRequestsAreKept() async throws {
        try await withServer { client in
            try await KeptRequests.count(to: client)
            #expect(
                try await client.read("/requests").text.contains(
                    "5 outgoing requests in the last 1 h; none of them is kept."))
            try await send(1, to: client)
            let all = try await client.read("/requests").text
            #expect(all.contains("5 outgoing requests in the last 1 h; 1 of them is kept."))
            #expect(all.contains("Counted failed 3 5xx 3"))
            let failed = try await client.read("/requests?failed=true").text
            #expect(failed.contains("3 failed in the last 1 h; 1 of them is kept."))
            try await KeptRequests.send([KeptRequests.span(2), KeptRequests.span(3)], to: client)
            let three = try await client.read("/requests?failed=true").text
            #expect(three.contains("3 failed in the last 1 h; all of them are kept."))
            let searched = try await client.read("/requests?search=users").text
            #expect(searched.contains("3 kept requests match."))
        }
    }

    @Test func emptyValueSelectsRequestsWithoutOneAsInTheAPI() async throws {
        try await withServer { client in
            try await KeptRequests.count(to: client)
            try await KeptRequests.send([KeptRequests.span(1)], to: client)
            let without = try await client.read("/requests?status=&failed=true")
            #expect(without.text.contains("Only without status × failed ×"))
            #expect(without.text.contains("No such request in the last 1 h."))
            #expect(without.text.contains("requests --status '' --failed"))
            // The form passes it on, and its other fields are empty.
            #expect(without.markup.contains(#"<input type="hidden" name="status" value="">"#))
            #expect(!without.markup.contains(#"<input type="hidden" name="any" value="status">"#))
            #expect(without.markup.contains(#"<input type="hidden" name="any" value="method">"#))
            let sent = "/requests?status=&any=method&method=&any=host&host=&any=error&error=&search=&failed=true"
            #expect(try await client.read(sent).text.contains("Only without status × failed ×"))
            #expect(try await client.read("/requests?any=status&status=&failed=true").text.contains("Only failed ×"))
        }
    }

    @Test func requestsWithoutAHostCanBeChosen() async throws {
        try await withServer { client in
            let unknown = KeptRequests.span(1) {
                $0.request?.host = ""
                $0.request?.port = 0
                $0.url = ""
            }
            try await KeptRequests.send([unknown, KeptRequests.span(2)], to: client)
            let all = try await client.read("/requests?since=1h")
            #expect(all.markup.contains(#"<option value="(none)">without a host</option>"#))
            let sent = "/requests?since=1h&host=%28none%29&any=host&method=&any=method"
            let chosen = try await client.read(sent)
            #expect(chosen.text.contains("; it is kept.") && chosen.text.contains("Only without host ×"))
            #expect(chosen.markup.contains(#"<option value="(none)" selected>without a host</option>"#))
            #expect(chosen.text.contains("requests --since 1h --host '' "))
            // Unless the form marks the field, the text is a host like any other.
            #expect(try await client.read("/requests?since=1h&host=%28none%29").text.contains("Only host (none) ×"))
        }
    }

    /// A server answered 404, which is not a failure of the server.
    @Test func listOfFailedRequestsOnlyCountsFailuresByStatus() async throws {
        try await withServer { client in
            let batch = MetricsBatch(
                resource: Samples.resource(), start: Samples.time(0), end: Samples.time(10),
                series: [
                    Samples.dimensions(.server, status: 404, error: "404"): Samples.statistics([0.1, 0.2, 0.3]),
                    Samples.dimensions(.server, status: 500, error: "500"): Samples.statistics([0.1, 0.2]),
                    Samples.dimensions(.client, status: 404, error: "404"): Samples.statistics([0.1]),
                ], ledger: Ledger(captured: 6))
            #expect(try await client.post(try batch.otlp()).status == .ok)
            let (all, failed) = try await (client.read("/requests"), client.read("/requests?failed=true"))
            #expect(all.text.contains("Counted failed 3 5xx 2 4xx 4"))
            #expect(failed.text.contains("Counted 5xx 2 4xx 1"))
        }
    }

    @Test func everyConditionHasALinkThatRemovesIt() async throws {
        try await withServer { client in
            try await send(1, to: client)
            let page = try await client.read("/requests?method=GET&status=5xx&status=404&failed=true&slower-than=50ms")
            #expect(page.text.contains("Only method GET × status 5xx × status 404 × failed × slower than 50ms ×"))
            #expect(page.links.contains("/requests?method=GET&status=404&failed=true&slower-than=50ms"))
            #expect(page.links.contains("/requests?method=GET&status=5xx&status=404&slower-than=50ms"))
            #expect(
                page.text.contains(
                    "martlet-collector requests --method GET --status 5xx --status 404 --failed --slower-than 50ms --limit 50"
                ))
        }
    }

    @Test func durationsCanBeLimitedOnBothSides() async throws {
        try await withServer { client in
            try await send(4, to: client)
            let page = try await client.read("/requests?slower-than=100ms&faster-than=300000001ns&limit=1&live=on")
            #expect(page.text.contains("Only slower than 100ms × faster than 300 ms ×"))
            #expect(page.text.contains("2 kept requests match."))
            #expect(page.links.contains("/requests?slower-than=100ms&limit=1&live=on"))
            #expect(page.markup.contains(#"name="faster-than" value="300000001ns""#))
            for parameter in ["before=", "sort=duration"] {
                let link = "/requests?slower-than=100ms&faster-than=300000001ns&limit=1&\(parameter)"
                #expect(page.links.contains { $0.hasPrefix(link) }, "\(parameter)")
            }
            #expect(page.text.contains("requests --slower-than 100ms --faster-than 300000001ns --limit 1"))
        }
    }

    @Test func titleSortsBothWays() async throws {
        try await withServer { client in
            try await send(2, to: client)
            let newest = try await client.read("/requests?before=")
            #expect(newest.links.contains("/requests?sort=time&ascending=true"))
            #expect(newest.links.contains("/requests?sort=duration"))
            #expect(newest.text.contains(#/14:13:22\.000 .* 14:13:21\.000 /#))
            let slowest = try await client.read("/requests?sort=duration")
            #expect(slowest.links.contains("/requests?sort=duration&ascending=true"))
            #expect(slowest.text.contains(#/14:13:21\.000 .* 14:13:22\.000 /#))
        }
    }

    @Test func pageContinuesAfterThePreviousOne() async throws {
        try await withServer { client in
            try await send(3, to: client)
            let first = try await client.read("/requests?limit=2")
            #expect(first.text.contains("2 of 3 Next page"))
            #expect(!first.text.contains("Newest"))
            let next = try #require(first.links.first { $0.contains("before=") })
            let second = try await client.read(next)
            #expect(second.text.contains("14:13:21.000"))
            #expect(!second.text.contains("14:13:22.000"))
            #expect(second.text.contains("1 of 3 Newest"))
            #expect(second.links.contains("/requests?limit=2"))
        }
    }

    @Test func emptyListNamesTheConditionThatMatchedNothing() async throws {
        try await withServer { client in
            try await send(2, to: client)
            let page = try await client.read("/requests?method=PUT&status=5xx")
            #expect(page.text.contains("Requests No such request in the last 1 h."))
            #expect(page.text.contains("No kept request matches in the last 1 h"))
            #expect(page.text.contains("method PUT matches no request by itself. Leave it out : 2 requests"))
            #expect(page.text.contains("status 5xx matches 2 requests by itself. Leave it out : still none"))
            #expect(page.links.contains("/requests?status=5xx"))
        }
    }

    @Test func emptyListLinksToALongerWindow() async throws {
        try await withServer { client in
            let none = try await client.read("/requests")
            #expect(none.text.contains("No request was counted either. Put the agent into a service."))
            try await send(2, to: client)
            let page = try await client.read("/requests?since=2026-09-01T00:00:00Z&until=2026-09-02T00:00:00Z")
            #expect(page.text.contains("No request is kept from 2026-09-01T00:00:00Z to 2026-09-02T00:00:00Z"))
            #expect(page.text.contains("No request was counted either. There were none in the week before either."))
            #expect(page.links.contains("/requests?since=30d"))
        }
    }

    @Test func liveTailShowsTheNewestFirst() async throws {
        try await withServer { client in
            try await send(3, to: client)
            let stopped = try await client.read("/requests?failed=true&limit=2")
            #expect(stopped.links.contains("/requests?failed=true&limit=2&live=on"))
            #expect(!stopped.markup.contains("data-live") && !stopped.markup.contains("http-equiv"))
            let live = try await client.read("/requests?failed=true&live=on")
            #expect(live.markup.contains(" data-live>"))
            #expect(live.markup.contains(#"<noscript><meta http-equiv="refresh" content="2"></noscript>"#))
            #expect(live.text.contains("Live Pause"))
            #expect(live.links.contains("/requests?failed=true"))
        }
    }

    @Test(arguments: ["sort=duration", "ascending=true", "until=5m", "refresh=off"])
    func listInAnotherOrderOrAnEndedWindowIsNotLive(query: String) async throws {
        try await withServer { client in
            let page = try await client.read("/requests?live=on&\(query)")
            #expect(page.status == 200)
            #expect(!page.markup.contains("data-live") && !page.markup.contains("http-equiv"))
        }
    }

    @Test func namesFromASenderStayText() async throws {
        try await withServer { client in
            let name = KeptRequests.hostile
            let span = KeptRequests.span(1) {
                $0.url = "https://\(name)/\(name)"
                $0.request?.endpoint = name
                $0.request?.error = name
                $0.request?.host = name
            }
            try await KeptRequests.send([span], of: Samples.resource(name, instance: name), to: client)
            let page = try await client.read("/requests?search=%3Cmark%3E")
            #expect(page.text.contains(#"<mark> \u{200d}\u{202e} x"'&"#))
            #expect(!page.markup.contains("<mark") && !page.shown.contains("\u{202e}"))
            #expect(page.links.allSatisfy { $0.hasPrefix("/") || $0.hasPrefix("#") })
        }
    }

    @Test(arguments: [
        "limit=0", "limit=1001", "slower-than=fast", "faster-than=5", "failed=perhaps", "sort=colour", "live=perhaps",
        "cleared=some", "status=9", "status=9xx", "since=2h&until=3h", "colour=red",
    ])
    func badParameterReturns400WithASentence(query: String) async throws {
        try await withServer { client in
            let page = try await client.read("/requests?\(query)")
            #expect(page.status == 400)
            #expect(page.text.contains("The address is not valid"))
        }
    }

    @Test func listAfterADeletedRequestLinksToItsBeginning() async throws {
        try await withServer { client in
            let page = try await client.read("/requests?failed=true&before=ff")
            #expect(page.status == 404)
            #expect(page.links.contains("?failed=true"))
        }
    }

    @Test func badParameterCanBeRemovedFromTheOthers() async throws {
        try await withServer { client in
            let page = try await client.read("/requests?search=pay&slower-than=fast&host=a%3A80&any=status&status=")
            #expect(page.text.contains("The same without slower-than"))
            #expect(page.links.contains("?search=pay&host=a%3A80&any=status&status="))
            #expect(try await client.read("/requests?slower-than=fast").links.contains("?"))
            let turned = try await client.read("/requests?search=pay&since=1h&until=2h")
            #expect(turned.text.contains("The same without since and until"))
            #expect(turned.links.contains("?search=pay"))
            let unknown = try await client.read("/requests?search=pay&colour=red")
            #expect(unknown.text.contains("unknown parameter; the parameters are since, until,"))
            #expect(unknown.text.contains("The same without colour"))
            #expect(unknown.links.contains("?search=pay"))
            let long = try await client.read("/requests?search=\(String(repeating: "x", count: 1025))&host=a")
            #expect(long.text.contains("search has more than 1024 bytes"))
            #expect(long.links.contains("?host=a"))
        }
    }

    @Test func requestsToASystemCanBeChosen() async throws {
        try await withCalledSystems { client in
            let all = try await client.read("/requests?since=1m")
            #expect(all.text.contains("SELECT users ok 250 shop db.internal:5432 postgresql"))
            #expect(all.markup.contains(#"<option value="(none)">HTTP</option>"#))
            let chosen = try await client.read("/requests?since=1m&any=system&system=postgresql")
            #expect(chosen.text.contains("9 outgoing requests in the last 1 min; 2 of them are kept."))
            #expect(chosen.text.contains("Only system postgresql ×"))
            #expect(chosen.markup.contains(#"<option value="postgresql" selected>postgresql</option>"#))
            let plain = try await client.read("/requests?since=1m&any=system&system=%28none%29")
            #expect(plain.text.contains("3 outgoing requests in the last 1 min; none of them is kept."))
        }
    }

    @Test func listWithoutSystemsHasNoChoiceOfThem() async throws {
        try await withServer { client in
            try await send(1, to: client)
            #expect(try await !client.read("/requests").markup.contains(#"name="system""#))
            #expect(try await client.read("/requests?system=redis").markup.contains(#"name="system""#))
        }
    }
}
