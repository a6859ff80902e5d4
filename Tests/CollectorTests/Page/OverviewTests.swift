import Fixtures
import MartletSQLiteStorage
import MartletStorage
import MartletTelemetry
import Testing

@testable import MartletPage
@testable import MartletReports

@Suite struct OverviewTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func page(_ pageRequest: PageRequest, in storage: some Storage) async throws -> ReadPage {
        let html = try await Overview(pageRequest, in: storage).html
        return ReadPage(status: 200, markup: String(decoding: html.bytes, as: UTF8.self))
    }

    private func compared(_ parameters: [(String, String)] = []) async throws -> ReadPage {
        let store = try await ComparedStore(in: folder).storage
        let window = [
            ("since", TimeText.format(ComparedStore.window.from)), ("until", TimeText.format(ComparedStore.window.to)),
        ]
        return try await page(
            try PageRequest(.overview, window + parameters, now: ComparedStore.window.to), in: store)
    }

    @Test func headingNamesTheWorseEndpoints() async throws {
        let page = try await compared()
        #expect(page.text.contains("2 of 6 endpoints are worse, compared with the hour before."))
        #expect(
            page.text.contains(
                "POST /payments : worse, failures 2.85 → 8.92 %, p50 98.2 → 114 ms, p95 144 → 672 ms, p99 149 → 1,433 ms, all the time; also POST /charges"
            ))
        #expect(page.text.contains("GET /products/{product}/reviews : better"))
        #expect(page.text.contains("totals mix endpoints and get no verdict"))
        #expect(page.text.contains("--compare previous --by service --by method --by host --by endpoint"))
    }

    @Test func everyTableLinksAServiceToItsPage() async throws {
        let page = try await compared()
        let window = "since=2026-09-21T16%3A00%3A00Z&until=2026-09-21T17%3A00%3A00Z"
        let address = "/endpoint?\(window)&service=storefront"
        // The tables of services, hosts, endpoints and gone endpoints.
        for heading in ["h-services", "h-hosts", "h-endpoints", GoneEndpoints.id] {
            let table = try #require(
                page.markup.split(separator: "id=\"\(heading)\"").last?.split(separator: "</table>").first)
            #expect(ReadPage(status: 200, markup: String(table)).links.contains(address), "\(heading)")
        }
    }

    @Test func templateIsSuggestedForEndpointsThatDifferInDigits() async throws {
        let storage = try SQLiteStorage(path: folder.path("thumbs.sqlite"), now: { ComparedStore.window.to })
        let points = (0..<40).map { number in
            RequestPoint(
                dimensions: Samples.dimensions(endpoint: "/files/thumb-\(number).jpg"),
                start: ComparedStore.window.to - 60_000_000_000, end: ComparedStore.window.to,
                statistics: Samples.statistics([0.001]))
        }
        _ = try await storage.store([InstanceMetrics(resource: Samples.resource(), points: points)], of: nil)
        let page = try await page(
            try PageRequest(.overview, [("since", "5m")], now: ComparedStore.window.to), in: storage)
        #expect(
            page.text.contains("40 endpoints differ in digits only: MARTLET_ENDPOINTS=/files/{name} folds them."))
    }

    @Test func goneEndpointsHaveATableThatLinksToTheEarlierWindow() async throws {
        let page = try await compared()
        let sentence = "1 endpoint had requests in the hour before and has none now"
        #expect(page.text.contains("\(sentence) ."))
        #expect(
            page.text.contains(
                "\(sentence) Endpoint Service Requests before Failed before % GET /old catalog.internal:443 storefront 720"
            ))
        let before = "since=2026-09-21T15:00:00Z&until=2026-09-21T16:00:00Z".replacing(":", with: "%3A")
        for view in ["/endpoint?", "/requests?"] {
            #expect(
                page.links.contains {
                    $0.hasPrefix(view) && $0.contains("endpoint=%2Fold") && $0.contains(before)
                })
        }
        #expect(!(try await compared([("kind", "server")])).text.contains("none now"))
        #expect(!(try await compared([("compare", "off")])).text.contains("none now"))
    }

    @Test func everyTableEndsWithTheCommandForItsFigures() async throws {
        let commands = try await compared([("method", "GET"), ("sort", "count")]).commands
        let window = "martlet-collector report --since 2026-09-21T16:00:00Z --until 2026-09-21T17:00:00Z"
        #expect(
            commands == [
                "\(window) --method GET --compare previous --by service --by kind",
                "\(window) --method GET --kind client --compare previous --by host",
                "\(window) --method GET --sort count --kind client --compare previous --by service --by method "
                    + "--by host --by endpoint",
            ])
    }

    @Test func commandAsksForTheShownRowsOfManyEndpoints() async throws {
        let storage = try SQLiteStorage(path: folder.path("many.sqlite"), now: { ComparedStore.window.to })
        let points = (1...60).map { endpoint in
            RequestPoint(
                dimensions: Samples.dimensions(endpoint: "/\(endpoint)"),
                start: ComparedStore.window.to - 60_000_000_000, end: ComparedStore.window.to,
                statistics: Samples.statistics([0.001 * Double(endpoint)]))
        }
        _ = try await storage.store([InstanceMetrics(resource: Samples.resource("many"), points: points)], of: nil)
        let window = [("since", "1h"), ("until", TimeText.format(ComparedStore.window.to))]
        for (top, rows) in [(nil, 50), ("55", 55), ("60", 60)] as [(String?, Int)] {
            let pageRequest = try PageRequest(
                .overview, window + (top.map { [("top", $0)] } ?? []), now: ComparedStore.window.to)
            let overview = try await Overview(pageRequest, in: storage)
            let page = ReadPage(status: 200, markup: String(decoding: overview.html.bytes, as: UTF8.self))
            #expect(page.commands.last?.contains(" --top \(rows)") == true, "\(page.commands)")
            let report = try await storage.report(
                overview.parameters.query(now: ComparedStore.window.to), comparedWith: .previous)
            #expect(report.rows.count == rows)
            #expect(report.rows.map(\.dimensions) == overview.endpoints.rows.map(\.dimensionsWithoutSystem))
            #expect(report.rows.map(\.verdict) == overview.endpoints.rows.map(\.verdict))
            #expect(report.compare == overview.endpoints.compare)
        }
    }

    @Test func commandFindsAsManyGoneEndpointsAsThePage() async throws {
        let storage = try SQLiteStorage(path: folder.path("gone.sqlite"), now: { ComparedStore.window.to })
        let hour: UInt64 = 3_600_000_000_000
        let points = [(1...40, 0), (1...70, hour)].flatMap { endpoints, age in
            endpoints.map { endpoint in
                RequestPoint(
                    dimensions: Samples.dimensions(endpoint: "/\(endpoint)"),
                    start: ComparedStore.window.to - age - 60_000_000_000, end: ComparedStore.window.to - age,
                    statistics: Samples.statistics([1 / Double(endpoint)]))
            }
        }
        _ = try await storage.store([InstanceMetrics(resource: Samples.resource("gone"), points: points)], of: nil)
        let pageRequest = try PageRequest(
            .overview, [("since", "1h"), ("until", TimeText.format(ComparedStore.window.to))],
            now: ComparedStore.window.to)
        let overview = try await Overview(pageRequest, in: storage)
        let report = try await storage.report(
            overview.parameters.query(now: ComparedStore.window.to), comparedWith: .previous)
        #expect(overview.endpoints.rows.count == 40 && overview.endpoints.compare?.goneCount == 10)
        #expect(report.compare?.goneCount == 10)
        #expect(
            report.compare?.gone.map(\.dimensions) == overview.endpoints.compare?.gone.map(\.dimensionsWithoutSystem))
    }

    @Test func nothingIsComparedIfTheAddressSaysSo() async throws {
        let page = try await compared([("compare", "off")])
        #expect(!page.text.contains("worse") && !page.text.contains("--compare"))
        #expect(page.text.contains("requests failed"))
    }

    @Test func storeSortsTheEndpointsAndATitleReversesTheOrder() async throws {
        let page = try await compared([("sort", "count"), ("ascending", "true"), ("top", "1"), ("compare", "off")])
        #expect(page.text.contains("/keys"))
        #expect(!page.text.contains("GET /products storefront"))
        #expect(page.text.contains("The first 1 of 6 rows; totals are of all rows."))
        #expect(page.markup.contains(#"aria-sort="ascending""#))
        let turned = page.links.filter { $0.contains("sort=count") && !$0.contains("ascending=true") }
        #expect(turned.contains { $0.hasPrefix("/?since=") })
    }

    @Test func worseRowsAreAmongTheShownOnes() async throws {
        let page = try await compared([("sort", "count"), ("ascending", "true"), ("top", "2")])
        #expect(page.text.contains("The first 2 of 6 rows, worse ones first; totals are of all rows."))
        #expect(!page.text.contains("/keys"))
    }

    /// The store has only requests that were counted 3 s ago.
    @Test func newestRequestsAreShownAtOnceWithTheRateSinceTheFirstData() async throws {
        let now = Samples.time(1003)
        let storage = try SQLiteStorage(path: folder.path("young.sqlite"), now: { now })
        _ = try await storage.store([Samples.metrics(requests: 140, captured: 140, end: 1000)], of: nil)
        let page = try await page(try PageRequest(.overview, [("since", "1h")], now: now - 400_000_000), in: storage)
        #expect(page.text.contains("None of 140 requests failed"))
        #expect(page.text.contains("All outgoing requests Requests 140"))
        #expect(page.text.contains("Rate 10.8 /s"))
        #expect(page.text.contains("since 14:29:50, when the first data arrived"))
        let query = StatisticsQuery(window: TimeWindow(from: now - 3_600_000_000_000, to: now), by: [.service])
        let report = try await storage.report(query, comparedWith: .previous)
        #expect(report.totals.measures.count == 140 && report.ratesSince == "2026-09-21T14:29:50Z")
        #expect(report.rows.map(\.measures.perSecond) == [140.0 / 13])
    }

    @Test func everyFigureLinksToItsRequests() async throws {
        let page = try await compared()
        let requests = page.links.filter { $0.hasPrefix("/requests?") && $0.contains("endpoint=%2Fpayments") }
        #expect(requests.contains { $0.contains("failed=true") && $0.contains("service=storefront") })
        #expect(requests.contains { $0.contains("sort=duration") })
        #expect(page.links.contains { $0.hasPrefix("/endpoint?") && $0.contains("host=payments.internal%3A443") })
    }

    @Test func linksOfFiguresKeepAllFilters() async throws {
        let page = try await compared([("host", "catalog.internal:443"), ("status", "2xx")])
        let requests = page.links.filter { $0.hasPrefix("/requests?") && $0.contains("kind=") }
        let endpoints = page.links.filter { $0.hasPrefix("/endpoint?") && $0.contains("&endpoint=") }
        #expect(!requests.isEmpty && !endpoints.isEmpty)
        for link in requests + endpoints {
            #expect(link.contains("host=catalog.internal%3A443") && link.contains("status=2xx"), "\(link)")
        }
    }

    @Test func linksKeepTheVersionAndTheComparisonOfVersions() async throws {
        let page = try await compared([("compare", "version:1.8.2..1.9.0")])
        let requests = page.links.filter { $0.hasPrefix("/requests?") && $0.contains("kind=") }
        let endpoints = page.links.filter { $0.hasPrefix("/endpoint?") && $0.contains("&endpoint=") }
        #expect(!requests.isEmpty && !endpoints.isEmpty)
        for link in requests { #expect(link.contains("&version=1.9.0"), "\(link)") }
        for link in endpoints { #expect(link.hasSuffix("&compare=version%3A1.8.2..1.9.0"), "\(link)") }
    }

    @Test(arguments: [
        ("1h", "last 1h"), ("90m", "last 90m"), ("19:01:17", "since 19:01:17"), ("yesterday", "since yesterday"),
    ])
    func titleDistinguishesADurationFromATime(since: String, title: String) throws {
        #expect(try PageRequest(.overview, [("since", since)], now: Samples.time(0)).titleOfScope == title)
    }

    @Test func versionThatBeganAfterTheWindowIsNotNamed() async throws {
        let clock = Clock()
        let storage = try SQLiteStorage(path: folder.path("versions.sqlite"), now: { [clock] in clock.time })
        for (version, end) in [("1.9.0", 100), ("2.0.0", 5000)] as [(String, UInt64)] {
            clock.time = Samples.time(end)
            var resource = Samples.resource(instance: version)
            resource.version = version
            _ = try await storage.store([Samples.metrics(requests: 2, end: end, resource: resource)], of: nil)
        }
        let window = [("since", TimeText.format(Samples.time(0))), ("until", TimeText.format(Samples.time(3600)))]
        let page = try await page(try PageRequest(.overview, window, now: Samples.time(6000)), in: storage)
        #expect(page.text.contains("1.9.0"))
        #expect(!page.text.contains("2.0.0"))
    }

    /// With this limit, the store has room for the rows but not for their slots.
    @Test func manyServicesAreShownWithoutTrends() async throws {
        var limits = SQLiteLimits()
        limits.maxGroups = 20
        let clock = Clock()
        clock.time = Samples.time(60)
        let storage = try SQLiteStorage(path: folder.path("many.sqlite"), limits: limits, now: { clock.time })
        let names = (1...8).map { "service-\($0)" }
        for name in names {
            let metrics = Samples.metrics(requests: 2, captured: 2, end: 10, resource: Samples.resource(name))
            _ = try await storage.store([metrics], of: nil)
        }
        let page = try await page(try PageRequest(.overview, [("since", "10m")], now: clock.time), in: storage)
        for name in names { #expect(page.text.contains("\(name) version 1.2")) }
        #expect(page.text.contains("All 8 endpoints"))
        #expect(page.text.contains("There are too many endpoints to compare them all"))
    }

    @Test func fleetOfAThousandServicesHasAFirstPage() async throws {
        let storage = try SQLiteStorage(path: folder.path("fleet.sqlite"), now: { Samples.time(60) })
        for service in 0..<1_050 {
            let points = (0..<20).map { endpoint in
                var dimensions = Samples.dimensions(endpoint: "/\(endpoint)")
                dimensions.host = "host-\(endpoint == 3 ? 3 : service % 40)"
                let seconds = (service, endpoint) == (700, 7) ? [20.0, 20, 20] : [0.001]
                return Samples.point(dimensions, seconds, end: 50)
            }
            let incoming = Samples.point(Samples.dimensions(.server, endpoint: "/in"), [0.001], end: 50)
            let metrics = InstanceMetrics(
                resource: Samples.resource("service-\(service)"), points: points + (service == 700 ? [incoming] : []))
            _ = try await storage.store([metrics], of: nil)
        }
        let page = try await page(try PageRequest(.overview, [("since", "10m")], now: Samples.time(60)), in: storage)
        #expect(page.text.contains("Services 1,050 The 100 that took the most time."))
        let services = try #require(
            page.markup.split(separator: "id=\"h-services\"").last?.split(separator: "</table>").first)
        #expect(services.split(separator: "<tr").count == 1 + 2 + 100)
        let first = try #require(services.split(separator: "<tbody").last?.split(separator: "</tr>").first)
        // Incoming and outgoing requests of the service, although few took longer than its incoming ones.
        #expect(first.contains("service-700") && first.contains(">22<") && first.contains(">1<"))
        #expect(page.text.contains("Hosts called 40 The 20 that took the most time."))
        #expect(page.text.contains("All 21,000 endpoints"))
        #expect(page.text.contains("the first 50 of 21,000 rows".capitalizedFirst))
        let endpoints = try #require(page.markup.split(separator: "id=\"h-endpoints\"").last)
        let row = try #require(endpoints.split(separator: "<tbody").last?.split(separator: "</tr>").first)
        #expect(row.contains("service-700") && row.contains("/7"))
    }

    @Test func linkToAWindowLongerThanTheComparisonOmitsIt() async throws {
        let links = try await compared([("compare", "day")]).links
        #expect(links.contains("/?compare=day&since=24h"))
        #expect(links.contains("/?since=7d"))
    }

    @Test(arguments: ["since=x", "sort=size", "top=0", "compare=x", "kind=x", "limit=-1&limit=2", "color=red"])
    func unreadableParameterReturns400WithASentence(query: String) async throws {
        try await withServer { client in
            let page = try await client.read("/?" + query)
            #expect(page.status == 400)
            #expect(page.text.contains("The address is not valid"))
        }
    }
}

extension ReportRow {
    /// The dimensions that the command's report has: without a row of a system, the page does not name this one in the command.
    fileprivate var dimensionsWithoutSystem: [Dimension: String?] { dimensions.filter { $0.key != .system } }
}
