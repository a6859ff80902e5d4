import Fixtures
import Foundation
import HummingbirdTesting
import MartletOTLP
import MartletReports
import MartletTelemetry
import Testing

@Suite struct EndpointPageTests {
    @Test func earlierFiguresAreFromTheWindowInTheAddress() async throws {
        try await withServer { client in
            try await client.storeTwoMinutes()
            let page = try await client.read(EndpointRequests.address + "&compare=2m")
            #expect(page.text.contains("Compared with the minute 2 min earlier"))
            #expect(page.text.contains("There were no requests in the minute 2 min earlier."))
            #expect(page.links.contains { $0.hasPrefix("/api/v1/report?") && $0.hasSuffix("&by=kind&compare=2m") })
            #expect(page.text.contains("--kind client --by kind --compare 2m"))
            #expect(page.text.contains("--by version --by status --by error"))
            let alone = try await client.read(EndpointRequests.address + "&compare=off")
            #expect(!alone.text.contains("--compare"))
        }
    }

    @Test func chartsOfAServiceMarkTheEndsOfItsProcesses() async throws {
        try await withServer { client in
            try await client.storeTwoMinutes()
            let ends = [Samples.end(of: "old"), InstanceEnd(instance: "older", cause: .clean, time: Samples.time(30))]
            #expect(try await client.post(try Samples.batch(ends).otlp()).status == .ok)
            let page = try await client.read("/endpoint?since=1m&service=checkout")
            #expect(page.markup.contains("SIGILL at main.swift:41"))
            #expect(!page.markup.contains("shut down"))
            #expect(try await !client.read("/endpoint?since=1m&kind=client").markup.contains("SIGILL"))
        }
    }

    @Test func viewShowsTheEndpointAndTheMinuteBefore() async throws {
        try await withServer { client in
            try await client.storeTwoMinutes()
            let page = try await client.read(EndpointRequests.address)
            #expect(page.status == 200)
            for text in [
                "Overview checkout api.example.com:443 GET /users/{id} called by checkout at api.example.com:443",
                "Requests 100 no trend yet was 50, × 2.00", "Failed 20.00 % no trend yet 20 requests, was 2.00 %",
                "p95 1.99 s no trend yet was 50.0 ms, × 39.9", "failures 2.00 → 20.00 %, p95 50.0 ms → 1.99 s",
                "Compared with the minute before", "Failed 2.00 % 20.00 % +18.00 pt", "Data as a table",
                "martlet-collector report --since 1m --service checkout --method GET --host api.example.com:443",
                "--kind client --by version --by status --by error",
            ] { #expect(page.text.contains(text), "\(text)") }
        }
    }

    @Test func linkedReportsMatchTheTableThatComparesBothWindows() async throws {
        try await withServer { client in
            try await client.storeTwoMinutes()
            let page = try await client.read(EndpointRequests.address)
            let section = try #require(page.markup.split(separator: "id=\"h-before\"").last)
            let links = ReadPage(status: 200, markup: String(section)).links.filter {
                $0.hasPrefix("/api/v1/report?") && $0.hasSuffix("&by=kind")
            }
            var counts: [UInt64] = []
            for link in links {
                let report = try ReportJSON.value(of: Report.self, in: Data(buffer: try await client.get(link).body))
                counts.append(report.totals.measures.count)
            }
            #expect(counts.prefix(2) == [50, 100])
            #expect(page.text.contains("Requests 50 100"))
            let flags =
                "--service checkout --method GET --host api.example.com:443 --endpoint '/users/{id}' --kind client"
            #expect(page.commands.contains { $0.contains(" --until ") && $0.hasSuffix("--by kind") })
            #expect(page.text.contains("martlet-collector report --since 1m \(flags) --by kind"))
        }
    }

    @Test func errorThatNoEarlierRequestHadIsNew() async throws {
        try await withServer { client in
            try await client.storeTwoMinutes()
            let text = try await client.read(EndpointRequests.address).text
            #expect(
                text.contains("timeout new the request or the session timed out 15 75.0 0 of 50 14:13:40 14:13:40"))
            #expect(text.contains("503 Service Unavailable 5 25.0 1 earlier 14:13:40"))
            #expect(
                text.contains(
                    "New: 0 of the 50 requests in the minute before failed this way, so the rate was then below 6.00 %."
                ))
        }
    }

    @Test func timesOfAnErrorAreFinerThanTheChartSlots() async throws {
        try await withServer { client in
            for (end, error) in [(30, "500"), (40, "timeout"), (50, "timeout")] as [(UInt64, String)] {
                try await client.store(
                    [Samples.dimensions(status: Int(error), error: error): EndpointRequests.repeated(0.1, 2)], end: end)
            }
            let address = EndpointRequests.address.replacing("since=1m", with: "since=1h")
            let text = try await client.read(address).text
            #expect(text.contains("500 Internal Server Error 2 33.3 0 14:13:50 14:13:50"))
            #expect(text.contains("or the session timed out 4 66.7 0 14:14 14:14:10"))
            #expect(text.contains("First and last seen are accurate to 10 s"))
        }
    }

    @Test func nothingIsNewWithoutEarlierRequests() async throws {
        try await withServer { client in
            try await client.store(
                [Samples.dimensions(status: 500, error: "500"): EndpointRequests.repeated(0.1, 20)], end: 20)
            let text = try await client.read(EndpointRequests.address).text
            #expect(text.contains("500 Internal Server Error 20 100.0 0 14:13:40 14:13:40"))
            #expect(!text.contains("New:"))
            #expect(text.contains("There were no requests in the minute before."))
        }
    }

    @Test func barsAndCellsDescribeAndLinkToTheirRequests() async throws {
        try await withServer { client in
            try await client.storeTwoMinutes()
            let page = try await client.read(EndpointRequests.address)
            #expect(page.markup.contains("<title>14:13:30–14:13:40: 100 requests, 20 failed (20.00 %)</title>"))
            #expect(
                page.markup.contains("<title>14:13:30–14:13:40, 64–128 ms: 85 requests</title>") == false)
            #expect(page.markup.contains("<title>14:13:30–14:13:40, up to 128 ms: 85 requests</title>"))
            #expect(page.markup.contains("<title>14:13:30–14:13:40, 1,024–2,048 ms: 15 requests</title>"))
            let slot = "since=2026-09-21T14%3A13%3A30Z&until=2026-09-21T14%3A13%3A40Z"
            let bar =
                "/requests?service=checkout&method=GET&host=api.example.com%3A443&endpoint=%2Fusers%2F%7Bid%7D&kind=client&\(slot)"
            #expect(page.links.contains(bar))
            #expect(page.links.contains("\(bar)&slower-than=1024ms&sort=duration&ascending=true"))
        }
    }

    /// A cell's link cuts its window to whole seconds. Its bounds lie between rows, also below a millisecond.
    @Test func exactlyOneCellLinksToEachKeptRequest() async throws {
        try await withServer(now: { Samples.time(60) + 500_000_000 }) { client in
            for end in [10, 20, 60] as [UInt64] {
                let durations = [0.0003, 0.0007, 0.1, 0.2, 0.4].flatMap { Array(repeating: $0, count: 20) }
                try await client.store([Samples.dimensions(): Samples.statistics(durations)], end: end)
            }
            // The starts are nanoseconds after the beginning of the minute. The durations are nanoseconds too.
            let second: UInt64 = 1_000_000_000
            let kept: [(start: UInt64, duration: UInt64)] = [
                (second / 5, 100_000_000), (10 * second, 128_000_000), (10 * second + 1, 128_000_001),
                (12 * second, 256_000_000), (12 * second, 256_000_001), (12 * second, 3_000_000_000),
                (13 * second, 300_000), (13 * second, 500_000), (13 * second, 500_001), (20 * second, 1_000_000),
                (60 * second + 300_000_000, 100_000_000), (60 * second + 800_000_000, 100_000_000),
            ]
            let spans = kept.enumerated().map { number, request in
                KeptRequests.span(UInt8(number + 1)) {
                    ($0.start, $0.durationNanoseconds) = (Samples.time(0) + request.start, request.duration)
                }
            }
            try await KeptRequests.send(spans, to: client)
            let page = try await client.read(EndpointRequests.address + "&until=2026-09-21T14:14:20.5Z")
            let cells = page.markup.matches(
                of: #/<a href="([^"]*)"[^>]*><rect[^>]*><\/rect><title>[^<]* ms: \d+ requests<\/title>/#)
            #expect(cells.count == 15)
            var opened = 0
            for cell in cells {
                let list = try await client.read(String(cell.1).replacing("&amp;", with: "&"))
                let sentence = try #require(list.text.firstMatch(of: #/(\w+) kept requests? match/#), "\(cell.0)")
                opened += sentence.1 == "No" ? 0 : try #require(Int(sentence.1))
            }
            #expect(opened == kept.count)
        }
    }

    @Test func sidesAddUpToTheMeanOfRequestsWithKnownPhases() async throws {
        try await withServer { client in
            try await client.storeTwoMinutes()
            let page = try await client.read(EndpointRequests.address)
            #expect(page.text.contains("Server first byte 90.0"))
            #expect(page.text.contains("Network dns, connect, tls, transfer 5.0"))
            #expect(page.text.contains("Client queue 1.0"))
            #expect(page.text.contains("All 96.0"))
            #expect(page.text.contains("25.0 % of requests opened a new connection"))
            #expect(
                page.markup.contains(
                    "<title>14:13:30–14:13:40, means: client 1.00 ms, network 5.00 ms, server 90.0 ms</title>"))
        }
    }

    @Test func propertiesThatDistinguishFailedRequestsAreNamed() async throws {
        try await withServer { client in
            try await client.storeTwoMinutes()
            let page = try await client.read(EndpointRequests.address)
            #expect(page.text.contains("What failed requests have in common"))
            #expect(page.text.contains("Too little data") == false)
            try await client.store(
                [Samples.dimensions(): EndpointRequests.repeated(0.1, 300)], end: 30, service: "checkout")
            let later = try await client.read(EndpointRequests.address)
            #expect(later.text.contains("took longer than 100"))
        }
    }

    @Test func keptRequestsAreShownAsExamples() async throws {
        try await withServer { client in
            try await client.storeTwoMinutes()
            var (failed, good) = (Samples.detail(1), Samples.detail(2))
            good.request = Samples.dimensions()
            (good.isError, good.durationNanoseconds, failed.durationNanoseconds) = (false, 40_000_000, 1_250_000_000)
            let batch = DetailsBatch(resource: Samples.resource(), details: [failed, good])
            #expect(try await client.post(try batch.otlp(), to: "/v1/traces").status == .ok)
            let response = try await client.get("/api/v1/requests?since=1m&sort=duration")
            let kept = try ReportJSON.value(of: RequestsReport.self, in: Data(buffer: response.body)).requests
            let page = try await client.read(EndpointRequests.address)
            #expect(
                page.text.contains(
                    "Slowest 1.25 s 503 14:13:21 40.0 ms 200 14:13:21 Failed last 1.25 s 503 14:13:21 Succeeded last 40.0 ms 200"
                ))
            #expect(page.text.contains("All 2 requests whose details are kept , of 100"))
            for request in kept { #expect(page.links.contains { $0.hasPrefix("/requests/\(request.id)?") }) }
        }
    }

    @Test func emptySelectionSaysWhenTheLatestRequestCame() async throws {
        try await withServer { client in
            let never = try await client.read(EndpointRequests.address)
            #expect(never.status == 200)
            #expect(never.text.contains("No agents have reported yet Put the agent into a service."))
            try await client.store([Samples.dimensions(): EndpointRequests.repeated(0.1, 3)], end: 20)
            let page = try await client.read("\(EndpointRequests.address)&until=2026-09-21T14:13:10Z")
            #expect(!page.text.contains("The latest request came"))
            let later = try await client.read("/endpoint?since=2026-09-21T14:14:00Z&service=checkout&method=GET")
            #expect(later.text.contains("The latest request came"))
            #expect(
                later.links.contains { $0.contains("since=2026-09-21T13%3A14%3A00Z&until=2026-09-21T14%3A14%3A00Z") })
            #expect(later.links.contains("/endpoint?since=2026-09-21T14%3A14%3A00Z&service=checkout"))
        }
    }

    @Test func hostileNameIsTextAndNeverMarkup() async throws {
        let name = "/<script>alert(1)</script>\"'\u{202e}\u{301}"
        try await withServer { client in
            try await client.store(
                [
                    Samples.dimensions(endpoint: name, status: nil, error: "<b>\u{600}"): EndpointRequests.repeated(
                        0.1, 12)
                ], end: 20,
                service: "<i>\"shop")
            let escaped = try #require(name.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
            for query in ["since=1m", "since=1m&endpoint=\(escaped)", "since=1m&error=%3Cscript%3Ealert%281%29"] {
                let page = try await client.read("/endpoint?\(query)")
                #expect(page.status == 200)
                #expect(!page.markup.contains("<script>"))
                #expect(!page.markup.contains("<b>\u{600}"))
                #expect(!page.shown.contains("\u{202e}"))
                #expect(!page.markup.contains("<i>"))
            }
            let page = try await client.read("/endpoint?since=1m&endpoint=\(escaped)")
            #expect(page.text.contains("GET") == false)
            #expect(page.text.contains("/<script>alert(1)</script>\"' \\u{202e}"))
        }
    }

    @Test(arguments: ["kind=both", "status=abc", "since=someday", "colour=red", "since=1h&since=2h"])
    func badParameterReturns400WithASentence(query: String) async throws {
        try await withServer { client in
            let page = try await client.read("/endpoint?\(query)")
            #expect(page.status == 400)
            #expect(page.text.contains("The address is not valid"))
        }
    }

    @Test func endpointOfADatabaseHasItsOperationAndSystem() async throws {
        try await withCalledSystems { client in
            let link =
                "/endpoint?since=1m&service=shop&kind=client&method=SELECT&host=db.internal%3A5432"
                + "&endpoint=SELECT%20users&system=postgresql"
            #expect(try await client.read("/?since=1m").links.contains(link))
            let page = try await client.read(link)
            for text in [
                "Overview shop db.internal:5432 SELECT users called by shop at db.internal:5432 (postgresql)",
                "None of 6 requests failed.", "Slowest 250 ms ok 14:14:05", "--by version --by error",
            ] { #expect(page.text.contains(text), "\(text)") }
            #expect(!page.text.contains("SELECT SELECT") && !page.text.contains("only system"))
            let failed = try await client.read(
                link.replacing("SELECT%20users", with: "INSERT%20orders").replacing("SELECT", with: "INSERT"))
            #expect(failed.text.contains("23505 2 100.0"))
        }
    }
}
