import Fixtures
import Foundation
import HummingbirdTesting
import MartletOTLP
import MartletReports
import MartletTelemetry
import Testing

@Suite struct EndpointPageTests {
    private static let address =
        "/endpoint?since=1m&service=checkout&kind=client&method=GET&host=api.example.com:443&endpoint=/users/%7Bid%7D"

    /// Stores requests that ended in the ten seconds before `end`, in seconds after the beginning of the minute.
    private func store(
        _ series: [RequestDimensions: RequestStatistics], end: UInt64, service: String = "checkout",
        to client: any TestClientProtocol
    ) async throws {
        let batch = MetricsBatch(
            resource: Samples.resource(service), start: Samples.time(end) - 10_000_000_000, end: Samples.time(end),
            series: series, ledger: Ledger(captured: 1))
        #expect(try await client.post(try batch.otlp()).status == .ok)
    }

    private func repeated(_ seconds: Double, _ count: Int) -> RequestStatistics {
        Samples.statistics(Array(repeating: seconds, count: count))
    }

    /// A minute with 100 requests, and before it another with 50: since then requests time out.
    private func storeTwoMinutes(to client: any TestClientProtocol) async throws {
        try await store(
            [
                Samples.dimensions(): repeated(0.05, 49),
                Samples.dimensions(status: 503, error: "503"): repeated(0.05, 1),
            ],
            end: 0, to: client)
        var slow = repeated(0.1, 80)
        slow.phases = Samples.phases([.queue: (80, 0.08), .connect: (20, 0.4), .firstByte: (80, 7.2)])
        try await store(
            [
                Samples.dimensions(): slow, Samples.dimensions(status: nil, error: "timeout"): repeated(2, 15),
                Samples.dimensions(status: 503, error: "503"): repeated(0.1, 5),
            ], end: 20, to: client)
    }

    @Test func allFiguresBeforeAreOfTheTimeThatTheAddressComparesWith() async throws {
        try await withServer { client in
            try await storeTwoMinutes(to: client)
            let page = try await client.read(Self.address + "&compare=2m")
            #expect(page.text.contains("Against the 1 min 2 min earlier"))
            #expect(page.text.contains("There were no requests in the 1 min 2 min earlier."))
            #expect(page.links.contains { $0.hasPrefix("/api/v1/report?") && $0.hasSuffix("&by=kind&compare=2m") })
            #expect(page.text.contains("--kind client --by kind --compare 2m"))
            #expect(page.text.contains("--by version --by status --by error"))
            let alone = try await client.read(Self.address + "&compare=off")
            #expect(!alone.text.contains("--compare"))
        }
    }

    @Test func theViewHasTheFiguresOfTheEndpointAndOfTheMinuteBefore() async throws {
        try await withServer { client in
            try await storeTwoMinutes(to: client)
            let page = try await client.read(Self.address)
            #expect(page.status == 200)
            for text in [
                "Overview api.example.com:443 GET /users/{id} called by checkout at api.example.com:443",
                "Requests 100 too few was 50, × 2.00", "Failed 20.00 % too few 20 requests, was 2.00 %",
                "p95 1.99 s too few was 50.0 ms, × 39.9", "failures 2.00 → 20.00 %, p95 50.0 ms → 1.99 s",
                "Against the 1 min before", "Failed 2.00 % 20.00 % +18.00 pt", "Data as a table",
                "martlet-collector report --since 1m --service checkout --method GET --host api.example.com:443",
                "--kind client --by version --by status --by error",
            ] { #expect(page.text.contains(text), "\(text)") }
        }
    }

    @Test func theReportsOfBothWindowsHaveTheFiguresOfTheTableThatSetsThemSideBySide() async throws {
        try await withServer { client in
            try await storeTwoMinutes(to: client)
            let page = try await client.read(Self.address)
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

    @Test func anErrorThatNoRequestBeforeHadIsNew() async throws {
        try await withServer { client in
            try await storeTwoMinutes(to: client)
            let text = try await client.read(Self.address).text
            #expect(
                text.contains("timeout new time-out of the request or the session 15 75.0 0 of 50 14:13:30 14:13:40"))
            #expect(text.contains("503 Service Unavailable 5 25.0 1 earlier 14:13:40"))
            #expect(
                text.contains(
                    "New: 0 of the 50 requests in the 1 min before failed in this way, so its rate then was below 6.00 %."
                ))
        }
    }

    @Test func nothingIsNewWithoutAMinuteBefore() async throws {
        try await withServer { client in
            try await store([Samples.dimensions(status: 500, error: "500"): repeated(0.1, 20)], end: 20, to: client)
            let text = try await client.read(Self.address).text
            #expect(text.contains("500 Internal Server Error 20 100.0 0 14:13:30 14:13:40"))
            #expect(!text.contains("New:"))
            #expect(text.contains("There were no requests in the 1 min before."))
        }
    }

    @Test func barsAndCellsSayAndOpenTheirRequests() async throws {
        try await withServer { client in
            try await storeTwoMinutes(to: client)
            let page = try await client.read(Self.address)
            #expect(page.markup.contains("<title>14:13:30–14:13:40: 100 requests, 20 failed (20.00 %)</title>"))
            #expect(
                page.markup.contains("<title>14:13:30–14:13:40, 64–128 ms: 85 requests, none kept</title>") == false)
            #expect(page.markup.contains("<title>14:13:30–14:13:40, up to 128 ms: 85 requests, none kept</title>"))
            #expect(page.markup.contains("<title>14:13:30–14:13:40, 1,024–2,048 ms: 15 requests, none kept</title>"))
            let slot = "since=2026-09-21T14%3A13%3A30Z&until=2026-09-21T14%3A13%3A40Z"
            let bar =
                "/requests?service=checkout&method=GET&host=api.example.com%3A443&endpoint=%2Fusers%2F%7Bid%7D&kind=client&\(slot)"
            #expect(page.links.contains(bar))
            #expect(page.links.contains("\(bar)&slower-than=1024ms&sort=duration&ascending=true"))
        }
    }

    @Test func cellsSayHowManyOfTheirRequestsAreKept() async throws {
        try await withServer { client in
            try await storeTwoMinutes(to: client)
            try await KeptRequests.send(
                [
                    KeptRequests.span(1, at: 15, milliseconds: 2000), KeptRequests.span(2, at: 15, milliseconds: 100),
                    KeptRequests.span(3, at: 16, milliseconds: 1100), KeptRequests.span(4, at: 5, milliseconds: 1100),
                ], to: client)
            let page = try await client.read(Self.address)
            #expect(page.markup.contains("<title>14:13:30–14:13:40, up to 128 ms: 85 requests, 1 kept</title>"))
            #expect(page.markup.contains("<title>14:13:30–14:13:40, 1,024–2,048 ms: 15 requests, 2 kept</title>"))
            #expect(page.text.contains("85 1 kept"))
        }
    }

    /// A cell's window is cut at whole seconds, and its bounds are between rows, also below a millisecond.
    @Test func cellsOpenAsManyRequestsAsTheySayAreKept() async throws {
        try await withServer(now: { Samples.time(60) + 500_000_000 }) { client in
            for end in [10, 20, 60] as [UInt64] {
                let durations = [0.0003, 0.0007, 0.1, 0.2, 0.4].flatMap { Array(repeating: $0, count: 20) }
                try await store([Samples.dimensions(): Samples.statistics(durations)], end: end, to: client)
            }
            // Starts in nanoseconds after the beginning of the minute, and durations in nanoseconds.
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
            let page = try await client.read(Self.address)
            let cells = page.markup.matches(
                of: #/<a href="([^"]*)"[^>]*><rect[^>]*><\/rect><title>[^<]*: \d+ requests, (\w+) kept<\/title>/#)
            #expect(cells.count == 15)
            #expect(cells.compactMap { Int($0.2) }.reduce(0, +) == kept.count)
            for cell in cells {
                let list = try await client.read(String(cell.1).replacing("&amp;", with: "&"))
                let sentence =
                    switch cell.2 {
                    case "none": "No kept request matches."
                    case "1": "1 kept request matches."
                    case let count: "\(count) kept requests match."
                    }
                #expect(list.text.contains(sentence), "\(cell.0)")
            }
        }
    }

    @Test func sidesAddUpToTheMeanOfRequestsWhosePhasesAreKnown() async throws {
        try await withServer { client in
            try await storeTwoMinutes(to: client)
            let page = try await client.read(Self.address)
            #expect(page.text.contains("Theirs first byte 90.0"))
            #expect(page.text.contains("The way dns, connect, tls, transfer 5.0"))
            #expect(page.text.contains("Ours queue 1.0"))
            #expect(page.text.contains("All 96.0"))
            #expect(page.text.contains("25.0 % of requests paid for a connection"))
            #expect(
                page.markup.contains(
                    "<title>14:13:30–14:13:40, means: ours 1.00 ms, the way 5.00 ms, theirs 90.0 ms</title>"))
        }
    }

    @Test func whatSetsFailedRequestsApartIsNamed() async throws {
        try await withServer { client in
            try await storeTwoMinutes(to: client)
            let page = try await client.read(Self.address)
            #expect(page.text.contains("What failed requests have in common"))
            #expect(page.text.contains("Too little data") == false)
            try await store([Samples.dimensions(): repeated(0.1, 300)], end: 30, service: "checkout", to: client)
            let later = try await client.read(Self.address)
            #expect(later.text.contains("took longer than 100"))
        }
    }

    @Test func bothEndsOfAnEndpointAreSideBySide() async throws {
        try await withServer { client in
            try await storeTwoMinutes(to: client)
            try await store(
                [Samples.dimensions(.server): repeated(0.09, 95)], end: 20, service: "accounts", to: client)
            let page = try await client.read(Self.address)
            #expect(page.text.contains("called by checkout at api.example.com:443 , served by accounts"))
            #expect(page.text.contains("checkout 1.2 calls, as its caller measures 100 20.00"))
            #expect(page.text.contains("accounts 1.2 answers, as its server measures 95 0.00"))
            let served = try await client.read("/endpoint?since=1m&kind=server&endpoint=/users/%7Bid%7D")
            #expect(served.text.contains("served by accounts , called by checkout"))
            #expect(served.text.contains("None of 95 requests failed."))
            #expect(!served.text.contains("On whose side"))
        }
    }

    /// A server that counts its requests without a host, as Swift's servers do.
    @Test func theServiceBehindACalledHostIsTheOneThatSpansShowed() async throws {
        try await withServer { client in
            try await storeTwoMinutes(to: client)
            var served = Samples.dimensions(.server)
            (served.host, served.port) = ("", 0)
            for service in ["accounts", "other"] {
                try await store([served: repeated(0.09, 95)], end: 20, service: service, to: client)
            }
            #expect(try await !client.read(Self.address).text.contains("served by"))

            let (call, answer) = (try span(1, Samples.dimensions()), try span(2, served, below: 1))
            for (service, span) in [("checkout", call), ("accounts", answer)] {
                let batch = DetailsBatch(resource: Samples.resource(service), details: [span])
                #expect(try await client.post(try batch.otlp(), to: "/v1/traces").status == .ok)
            }
            let page = try await client.read(Self.address)
            #expect(page.text.contains("called by checkout at api.example.com:443 , served by accounts"))
            #expect(page.text.contains("accounts 1.2 answers, as its server measures 95 0.00"))
            #expect(!page.text.contains("other 1.2"))
            let rest = "&method=GET&endpoint=%2Fusers%2F%7Bid%7D&service=accounts&kind=server"
            #expect(page.links.contains("/endpoint?since=1m\(rest)&host="), "\(page.links)")
            #expect(page.links.contains("/requests?since=1m\(rest)&version=1.2&host="), "\(page.links)")
        }
    }

    private static var proxied: RequestDimensions {
        var dimensions = Samples.dimensions()
        dimensions.host = "proxy"
        return dimensions
    }

    /// A sender chooses the hosts in its spans.
    @Test func moreHostsThanAnAddressMayHaveLeaveLinksThatWork() async throws {
        try await withServer { client in
            try await storeTwoMinutes(to: client)
            var served = Samples.dimensions(.server)
            try await store([served: repeated(0.09, 95)], end: 20, service: "elsewhere", to: client)
            for number in 1...20 as ClosedRange<UInt8> {
                (served.host, served.port) = ("behind-\(number)", 80)
                try await store([served: repeated(0.09, 2)], end: 20, service: "accounts", to: client)
                let spans = [
                    ("checkout", try span(number, Self.proxied)),
                    ("accounts", try span(number + 100, served, below: number)),
                ]
                for (service, span) in spans {
                    let batch = DetailsBatch(resource: Samples.resource(service), details: [span])
                    #expect(try await client.post(try batch.otlp(), to: "/v1/traces").status == .ok)
                }
            }
            try await store([Self.proxied: repeated(0.1, 40)], end: 20, to: client)
            let page = try await client.read(Self.address.replacing("api.example.com", with: "proxy"))
            #expect(page.text.contains("accounts 1.2 answers, as its server measures 40 0.00"), "\(page.text)")
            let link = try #require(page.links.first { $0.hasPrefix("/endpoint?") && $0.contains("service=accounts") })
            #expect(try await client.read(link).text.contains("None of 40 requests failed."))
        }
    }

    private func span(_ number: UInt8, _ request: RequestDimensions, below parent: UInt8? = nil) throws -> SpanRecord {
        var span = Samples.detail(number)
        (span.kind, span.start, span.request) = (request.kind == .client ? .client : .server, Samples.time(15), request)
        if let above = parent.map(Samples.detail) { (span.traceID, span.parentSpanID) = (above.traceID, above.spanID) }
        return span
    }

    @Test func aServiceIsNotNamedAsItsOwnCaller() async throws {
        try await withServer { client in
            try await storeTwoMinutes(to: client)
            let service = try await client.read("/endpoint?since=1m&service=checkout").text
            #expect(service.contains("Overview checkout requests made"))
            let all = try await client.read("/endpoint?since=1m").text
            #expect(all.contains("Overview All requests made"))
            #expect(!service.contains("called by") && !all.contains("called by"))
        }
    }

    @Test func keptRequestsAreExamples() async throws {
        try await withServer { client in
            try await storeTwoMinutes(to: client)
            var (failed, good) = (Samples.detail(1), Samples.detail(2))
            good.request = Samples.dimensions()
            (good.isError, good.durationNanoseconds, failed.durationNanoseconds) = (false, 40_000_000, 1_250_000_000)
            let batch = DetailsBatch(resource: Samples.resource(), details: [failed, good])
            #expect(try await client.post(try batch.otlp(), to: "/v1/traces").status == .ok)
            let response = try await client.get("/api/v1/requests?since=1m&sort=duration")
            let kept = try ReportJSON.value(of: RequestsReport.self, in: Data(buffer: response.body)).requests
            let page = try await client.read(Self.address)
            #expect(
                page.text.contains(
                    "Slowest 1.25 s 503 14:13:21 40.0 ms 200 14:13:21 Failed last 1.25 s 503 14:13:21 Succeeded last 40.0 ms 200"
                ))
            #expect(page.text.contains("All 2 requests whose details are kept , of 100"))
            for request in kept { #expect(page.links.contains { $0.hasPrefix("/requests/\(request.id)?") }) }
        }
    }

    @Test func anEmptySelectionSaysWhenTheLatestRequestCame() async throws {
        try await withServer { client in
            let never = try await client.read(Self.address)
            #expect(never.status == 200)
            #expect(never.text.contains("No requests in this window There were none in the day before it either."))
            try await store([Samples.dimensions(): repeated(0.1, 3)], end: 20, to: client)
            let page = try await client.read("\(Self.address)&until=2026-09-21T14:13:10Z")
            #expect(!page.text.contains("The latest came"))
            let later = try await client.read("/endpoint?since=2026-09-21T14:14:00Z&service=checkout&method=GET")
            #expect(later.text.contains("The latest came at 21 Sep, 14:13:40"))
            #expect(
                later.links.contains { $0.contains("since=2026-09-21T14%3A09%3A00Z&until=2026-09-21T14%3A14%3A00Z") })
            #expect(later.links.contains("/endpoint?since=2026-09-21T14%3A14%3A00Z&service=checkout"))
        }
    }

    @Test func aHostileNameIsReadAndNeverMarkup() async throws {
        let name = "/<script>alert(1)</script>\"'\u{202e}\u{301}"
        try await withServer { client in
            try await store(
                [Samples.dimensions(endpoint: name, status: nil, error: "<b>\u{600}"): repeated(0.1, 12)], end: 20,
                service: "<i>\"shop", to: client)
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
    func aBadParameterIs400WithASentence(query: String) async throws {
        try await withServer { client in
            let page = try await client.read("/endpoint?\(query)")
            #expect(page.status == 400)
            #expect(page.text.contains("The address cannot be read"))
        }
    }
}
