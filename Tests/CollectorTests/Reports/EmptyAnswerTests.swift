import MartletStorage
import MartletTelemetry
import Testing

@testable import MartletReports

@Suite struct EmptyAnswerTests {
    private let report = Report(
        from: "2026-11-21T16:49:00Z", to: "2026-11-21T16:54:00Z", by: [.endpoint], rowCount: 0, rows: [],
        totals: SampleReport.report.totals, totalsByKind: [:])

    private func context(_ flags: [CommandFlag]) -> ReportContext {
        var context = ReportContext()
        context.flags = flags
        context.now = TimeText.parse("2026-11-21T16:54:12Z", now: 0)
        return context
    }

    private func sentence(_ flags: [CommandFlag], _ change: (inout ReportContext) -> Void = { _ in }) -> String {
        var context = context(flags)
        change(&context)
        return EmptyAnswer.sentence(of: report, context)
    }

    @Test func aLongerTimeIsSuggested() throws {
        #expect(
            sentence([CommandFlag("since", "5m"), CommandFlag("store", "sqlite:a b")]) == """
                No requests in the last 5 min. A longer time:
                  martlet-collector report --since 7d --store 'sqlite:a b'

                """)
        #expect(sentence([CommandFlag("since", "7d")]).hasSuffix("heard of:\n  martlet-collector agents\n"))
    }

    @Test func aWindowWithAnEndIsTold() throws {
        let text = sentence([CommandFlag("since", "10m"), CommandFlag("until", "5m")])
        #expect(text.hasPrefix("No requests from 16:49 to 16:54 UTC."))
    }

    @Test func aLongerTimeThatBeginsLaterIsNotSuggested() {
        let text = sentence([
            CommandFlag("since", "2026-11-21T16:49:00Z"), CommandFlag("until", "2026-11-21T16:54:00Z"),
        ]) {
            $0.now = TimeText.parse("2026-11-29T00:00:00Z", now: 0)
        }
        #expect(text.hasSuffix("heard of:\n  martlet-collector agents\n"))
    }

    @Test func aFilterIsLeftOutOfTheNextCommand() throws {
        let flags = [CommandFlag("since", "1h"), CommandFlag("status", "5xx"), CommandFlag("by", "endpoint")]
        #expect(
            sentence(flags) == """
                No request matches --status 5xx in the last 1 h. Without the filter:
                  martlet-collector report --since 1h --by endpoint

                """)
    }

    @Test func anUnknownNameIsToldWithTheNearestOne() throws {
        let text = sentence([CommandFlag("service", "storfront")]) {
            $0.names = [.init(flag: "service", wanted: "storfront", known: ["storefront", "payments", "catalog"])]
        }
        #expect(
            text == """
                No service is called storfront. There are catalog, payments and storefront; nearest: storefront
                  martlet-collector report --service storefront

                """)
    }

    @Test func aNameThatIsLikeNoOtherHasNoNearest() throws {
        func text(_ known: [String]) throws -> String {
            sentence([CommandFlag("service", "nobody")]) {
                $0.names = [.init(flag: "service", wanted: "nobody", known: known)]
            }
        }
        #expect(try text(["catalog"]) == "No service is called nobody. There is catalog.\n")
        #expect(try text([]) == "No service is called nobody, and none is known.\n")
        let many = try text((1...7).map { "service-\($0)" })
        #expect(many.hasSuffix("There are service-1, service-2, service-3, service-4, service-5 and 2 more.\n"))
    }

    @Test(arguments: [
        "api.example", "API.example", "API.Example:443", "2001:db8::1", "[2001:DB8::1]", "[2001:db8::1]:8443", "",
    ])
    func aHostIsKnownInEachOfItsSpellings(wanted: String) {
        let values = ["", "api.example:443", "[2001:db8::1]:8443"]
        #expect(EmptyAnswer.Names(.host, wanted: wanted, values: values).isKnown)
        #expect(!EmptyAnswer.Names(.host, wanted: "x" + wanted, values: values).isKnown)
    }

    /// An empty host would select requests without one.
    @Test func bracketsWithoutAnAddressAreAHostThatNobodyHas() {
        #expect(!EmptyAnswer.Names(.host, wanted: "[]", values: ["", "api.example:443"]).isKnown)
    }

    @Test func requestsWithoutANameHaveNoPlaceInTheListOfNames() {
        let names = EmptyAnswer.Names(.error, wanted: "timeout", values: ["", "dns"])
        #expect(names.list == "There is dns")
    }

    @Test func onlyTheUnknownOneOfSeveralNamesIsCorrected() throws {
        let text = sentence([CommandFlag("service", "storfront"), CommandFlag("service", "catalog")]) {
            $0.names = [.init(flag: "service", wanted: "storfront", known: ["storefront", "catalog"])]
        }
        #expect(text.hasSuffix("\n  martlet-collector report --service storefront --service catalog\n"))
    }

    @Test func aComparedVersionThatNobodySendsIsToldWithTheNearestOne() throws {
        let text = sentence([CommandFlag("compare", "version:1.8.3..1.9.9")]) {
            $0.names = [.init(flag: "version", wanted: "1.9.9", known: ["1.8.3", "1.9.0"])]
        }
        #expect(
            text == """
                No version is called 1.9.9. There are 1.8.3 and 1.9.0; nearest: 1.9.0
                  martlet-collector report --compare version:1.8.3..1.9.0

                """)
    }

    /// The versions of `pay` are 1.8 and 2.0, and `shop` has 1.0 alone.
    @Test(arguments: [
        ("1.0", "version of the chosen senders", "2.0"), ("2.1", "version", "2.0"), ("1.8", nil, nil),
    ])
    func aVersionIsLookedForAmongThoseOfTheService(wanted: String, subject: String?, nearest: String?) async throws {
        let filters: [EmptyAnswer.Names.Wanted] = [(.service, "pay"), (.version, "1.8"), (.version, wanted)]
        let names = try #require(
            try await EmptyAnswer.Names.find((.version, wanted), beside: filters) { senders in
                senders.contains { $0 == (.service, "pay") } ? ["1.8", "2.0"] : ["1.0", "1.8", "2.0"]
            })
        #expect(names.isKnown == (subject == nil))
        #expect((names.isKnown ? nil : names.subject) == subject)
        if !names.isKnown { #expect(names.nearest == nearest) }
        let service = try await EmptyAnswer.Names.find((.service, "pay"), beside: filters) { senders in
            senders.isEmpty ? ["pay", "shop"] : []
        }
        #expect(service?.isKnown == true)
    }

    @Test func aVersionIsNotComparedWithItself() {
        let text = sentence([CommandFlag("compare", "version:1.8..1.0")]) {
            var names = EmptyAnswer.Names(flag: "version", wanted: "1.0", known: ["1.8", "2.0"])
            names.others = ["1.8"]
            $0.names = [names]
        }
        #expect(
            text == """
                No version is called 1.0. There are 1.8 and 2.0; nearest: 2.0
                  martlet-collector report --compare version:1.8..2.0

                """)
    }

    @Test func aCommandInMarkdownIsABlockOfCode() {
        let text = ReportMarkdown.text(of: report, context([CommandFlag("collector", "http://127.0.0.1:4318")]))
        #expect(text.contains("\n\n    martlet-collector report --since 7d --collector http://127.0.0.1:4318\n"))
    }

    @Test func theLatestDataIsTold() throws {
        let latest = try #require(TimeText.parse("2026-11-21T13:42:10Z", now: 0))
        let text = sentence([CommandFlag("since", "5m"), CommandFlag("environment", "test")]) {
            $0.history = .latest(latest, sender: "storefront-2")
        }
        #expect(
            text == """
                Nothing came from --environment test in the last 5 min. The latest came at 13:42:10 UTC, 3 h 12 min ago, from storefront-2:
                  martlet-collector report --since 2026-11-21T12:43:00Z --until 2026-11-21T13:43:00Z --environment test

                """)
    }

    @Test func theLatestRequestIsToldWhereItsSenderStillSends() throws {
        func text(_ flags: [CommandFlag]) throws -> String {
            try sentence([CommandFlag("since", "5m")] + flags, arrival: "16:54:10", request: "13:42:10")
        }
        #expect(
            try text([CommandFlag("error", "timeout"), CommandFlag("top", "9")]) == """
                No request matches --error timeout in the last 5 min. The latest one came at 13:42:10 UTC, 3 h 12 min ago:
                  martlet-collector report --since 2026-11-21T12:43:00Z --until 2026-11-21T13:43:00Z --error timeout --top 9

                """)
        #expect(try text([]).hasPrefix("No requests in the last 5 min. The latest one came at 13:42:10 UTC, "))
    }

    @Test func theLatestRequestIsToldOfASenderThatSentOtherThingsLater() throws {
        let flags = [CommandFlag("since", "5m"), CommandFlag("service", "shop")]
        #expect(
            try sentence(flags, arrival: "16:42:10", request: "13:42:10") == """
                Nothing came from --service shop in the last 5 min. The latest came at 16:42:10 UTC, 12 min ago, from shop (s-1), and the latest request at 13:42:10 UTC, 3 h 12 min ago:
                  martlet-collector report --since 2026-11-21T12:43:00Z --until 2026-11-21T13:43:00Z --service shop

                """)
        let soon = try sentence(flags, arrival: "16:42:10", request: "16:40:00")
        #expect(soon.contains("from shop (s-1):\n  martlet-collector report --since 2026-11-21T15:43:00Z --until "))
    }

    /// Counted requests may not be kept, and may not have failed.
    @Test func theLatestRequestsOfAnEmptyListAreReported() throws {
        let flags = [CommandFlag("service", "shop"), CommandFlag("failed"), CommandFlag("store", "sqlite:a")]
        #expect(
            try sentence(flags, arrival: "16:54:10", request: "13:42:10", for: "requests").hasSuffix(
                "report --since 2026-11-21T12:43:00Z --until 2026-11-21T13:43:00Z --service shop --store sqlite:a\n"))
    }

    @Test func theLaterOfComparedVersionsIsAFilter() throws {
        let flags = [CommandFlag("service", "pay"), CommandFlag("compare", "version:1.8..1.9")]
        #expect(
            try sentence(flags, arrival: "16:54:10", request: "13:42:10") == """
                No request matches --service pay --version 1.9 in the last 1 h. The latest one came at 13:42:10 UTC, 3 h 12 min ago:
                  martlet-collector report --since 2026-11-21T12:43:00Z --until 2026-11-21T13:43:00Z --service pay --compare version:1.8..1.9

                """)
        #expect(
            sentence(flags) == """
                No request matches --service pay --version 1.9 in the last 1 h. Without these filters:
                  martlet-collector report

                """)
    }

    private func sentence(
        _ flags: [CommandFlag], arrival: String, request: String, for command: String = "report"
    ) throws -> String {
        var context = context(flags)
        func time(_ clock: String) throws -> UnixNanoseconds {
            try #require(TimeText.parse("2026-11-21T\(clock)Z", now: 0))
        }
        context.history = .latest(try time(arrival), sender: "shop (s-1)")
        context.latestRequest = try time(request)
        return EmptyAnswer.sentence(of: report, context, for: command)
    }

    @Test func sendersWithoutRequestsAreToldFromAFilterThatMatchesNothing() throws {
        let latest = try #require(TimeText.parse("2026-11-21T16:53:10Z", now: 0))
        func text(_ flags: [CommandFlag]) -> String {
            sentence([CommandFlag("since", "5m")] + flags) { $0.history = .latest(latest, sender: "inner (i-1)") }
        }
        let flags = [CommandFlag("service", "inner"), CommandFlag("by", "host"), CommandFlag("collector", "http://c")]
        #expect(
            text(flags) == """
                No requests came from --service inner in the last 5 min, but inner (i-1) was heard of at 16:53:10 UTC, 1 min 2 s ago:
                  martlet-collector agents --service inner --collector http://c

                """)
        #expect(text([CommandFlag("service", "inner"), CommandFlag("status", "5xx")]).hasPrefix("No request matches "))
        #expect(text([]).hasPrefix("No requests in the last 5 min. A longer time:"))
    }

    // MARK: Kept requests

    private func requests(
        _ kinds: [(RequestKind, count: Int, failed: Int)], _ flags: [CommandFlag] = [],
        _ change: (inout RequestsQuery) -> Void = { _ in }
    ) -> String {
        var query = RequestsQuery(window: TimeWindow(from: Samples.time(0), to: Samples.time(3600)), limit: 50)
        change(&query)
        let list = RequestsReport(RequestsAnswer(requests: [], count: 0, isThereMore: false), for: query)
        let sums = kinds.map { kind, count, failed in
            var group = RequestGroup(values: [kind.rawValue])
            for (count, status) in [(count - failed, 200), (failed, 500)] {
                let dimensions = Samples.dimensions(kind, status: status, error: status == 500 ? "500" : nil)
                group.add(RequestClass(dimensions)) {
                    $0.merge(Samples.statistics(Array(repeating: 0.5, count: count)))
                }
            }
            return group
        }
        let counting = StatisticsQuery(window: query.window, by: [.kind])
        let answer = StatisticsAnswer(
            counting, window: query.window, sums: sums, account: Samples.account(query.window))
        return EmptyRequests(list, query, counted: Report(answer, for: counting), context(flags)).text
    }

    @Test func aListWithoutKeptRequestsTellsHowManyWereCounted() {
        let between = "between 2026-09-21T14:13:20Z and 2026-09-21T15:13:20Z"
        #expect(
            requests([(.client, 40, 3), (.server, 10, 0)])
                == "50 requests were counted \(between), and none of them is kept.\n")
        #expect(
            requests([(.client, 40, 1)]) { $0.onlyFailed = true }
                == "1 failed request was counted \(between), and none of them is kept.\n")
        #expect(
            requests([(.client, 40, 0)]) { $0.onlyFailed = true } == "None of the 40 requests \(between) failed.\n")
        #expect(
            requests([(.client, 40, 0)]) { $0.text = "x" } == "No kept request \(between) matches.\n")
    }

    @Test func aListOfNoRequestsIsExplainedAsAReportIs() {
        #expect(
            requests([], [CommandFlag("status", "5xx"), CommandFlag("failed")]) == """
                No request matches --status 5xx --failed in the last 1 h. Without these filters:
                  martlet-collector requests

                """)
    }

    @Test func dataWithinTheWindowMeansThatTheFilterIsToBlame() throws {
        let latest = try #require(TimeText.parse("2026-11-21T16:53:10Z", now: 0))
        let text = sentence([CommandFlag("since", "5m"), CommandFlag("status", "404")]) {
            $0.history = .latest(latest, sender: "storefront-2")
        }
        #expect(text.hasPrefix("No request matches --status 404 in the last 5 min."))
    }

    @Test func aNewCollectorIsTold() throws {
        let text = sentence([]) { $0.history = .nobodyEverSent }
        #expect(
            text.hasPrefix(
                "Nobody ever sent anything to this collector. A service sends to it with "
                    + "MARTLET_ENDPOINT=http://127.0.0.1:4318. Agents report every 10 s.\n"))
    }

    @Test func aNewCollectorIsNamedAsItWasAsked() throws {
        let asked = sentence([CommandFlag("collector", "http://127.0.0.1:24318")]) { $0.history = .nobodyEverSent }
        #expect(asked.contains("MARTLET_ENDPOINT=http://127.0.0.1:24318. "))
        let store = sentence([CommandFlag("store", "sqlite:/tmp/a.sqlite")]) { $0.history = .nobodyEverSent }
        #expect(store.contains("A service sends to the address in MARTLET_ENDPOINT. "))
    }

    @Test func hostileNamesAreWrittenOut() throws {
        let hostile = "\u{1b}[2J\u{202e}"
        let text = sentence([CommandFlag("service", hostile)]) {
            $0.names = [.init(flag: "service", wanted: hostile, known: [hostile + "x"])]
            $0.history = .latest(0, sender: hostile)
        }
        #expect(text.unicodeScalars.allSatisfy { $0 == "\n" || TerminalText.isPlain($0) })
    }

    @Test(
        arguments: [
            ("storfront", "storefront"), ("STOREFRONT", "storefront"), ("storefront2", "storefront"),
            ("paymets", "payments"), ("pay", "payments"), ("front", "storefront"),
            ("a", nil), ("warehouse", nil), ("", nil),
        ] as [(String, String?)])
    func theNearestNameHasFewEdits(name: String, nearest: String?) {
        #expect(NearestName.of(name, among: ["catalog", "payments", "storefront"]) == nearest)
    }
}
