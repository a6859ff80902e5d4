import MartletStorage
import MartletTelemetry
import Testing

@testable import MartletReports

@Suite struct NoResultsTextTests {
    private let report = Report(
        from: "2026-11-21T16:49:00Z", to: "2026-11-21T16:54:00Z", by: [.endpoint], rowCount: 0, rows: [],
        totals: SampleReport.report.totals, totalsByKind: [:])

    private func context(_ flags: [CommandFlag]) -> ReportContext {
        var context = ReportContext()
        context.flags = flags
        context.now = TimeText.parse("2026-11-21T16:54:12Z", now: 0)
        return context
    }

    private func sentence(
        _ flags: [CommandFlag], _ reason: NoResultsReason? = nil, for command: String = "report",
        at now: String = "2026-11-21T16:54:12Z"
    ) -> String {
        var (report, context) = (report, context(flags))
        report.empty = reason
        context.now = TimeText.parse(now, now: 0)
        return NoResultsText.sentence(of: report, context, for: command)
    }

    /// - Parameter values: the names that the store has.
    private func unknown(
        _ dimension: Dimension, _ wanted: String, among values: [String], notMeaning others: Set<String> = []
    ) throws -> NoResultsReason {
        .unknownName(try #require(UnknownName((dimension, wanted), among: values, notMeaning: others)))
    }

    private func time(_ clock: String) throws -> UnixNanoseconds {
        try #require(TimeText.parse("2026-11-21T\(clock)Z", now: 0))
    }

    private func sender(_ service: String, _ instance: String, seen clock: String) throws -> NoResultsReason.Sender {
        .init(service: service, instance: instance, lastSeen: try time(clock))
    }

    @Test func longerWindowIsSuggested() throws {
        #expect(
            sentence([CommandFlag("since", "5m"), CommandFlag("store", "sqlite:a b")]) == """
                No requests in the last 5 min, nor in the week before. A longer time:
                  martlet-collector report --since 30d --store 'sqlite:a b'

                """)
        #expect(sentence([CommandFlag("since", "30d")]).hasSuffix("seen:\n  martlet-collector agents\n"))
    }

    @Test func windowWithAnEndIsWrittenOut() throws {
        let text = sentence([CommandFlag("since", "10m"), CommandFlag("until", "5m")])
        #expect(text.hasPrefix("No requests from 16:49 to 16:54 UTC, nor in the week before."))
    }

    @Test func longerWindowThatBeginsLaterIsNotSuggested() {
        let flags = [CommandFlag("since", "2026-11-21T16:49:00Z"), CommandFlag("until", "2026-11-21T16:54:00Z")]
        let text = sentence(flags, at: "2026-12-29T00:00:00Z")
        #expect(text.hasSuffix("seen:\n  martlet-collector agents\n"))
    }

    @Test func nextCommandOmitsTheFilter() throws {
        let flags = [CommandFlag("since", "1h"), CommandFlag("status", "5xx"), CommandFlag("by", "endpoint")]
        #expect(
            sentence(flags) == """
                No request matches --status 5xx in the last 1 h. Without the filter:
                  martlet-collector report --since 1h --by endpoint

                """)
    }

    @Test func unknownNameIsReportedWithTheNearestOne() throws {
        let text = sentence(
            [CommandFlag("service", "storfront")],
            try unknown(.service, "storfront", among: ["storefront", "payments", "catalog"]))
        #expect(
            text == """
                No service is called storfront. There are catalog, payments and storefront; nearest: storefront
                  martlet-collector report --service storefront

                """)
    }

    @Test func knownNamesAreListedIfNoneIsNear() throws {
        func text(_ known: [String]) throws -> String {
            sentence([CommandFlag("service", "nobody")], try unknown(.service, "nobody", among: known))
        }
        #expect(try text(["catalog"]) == "No service is called nobody. There is catalog.\n")
        #expect(try text([]) == "No service is called nobody, and none is known.\n")
        let many = try text((1...7).map { "service-\($0)" })
        #expect(many.hasSuffix("There are service-1, service-2, service-3, service-4, service-5 and 2 more.\n"))
    }

    @Test(arguments: [
        "api.example", "API.example", "API.Example:443", "2001:db8::1", "[2001:DB8::1]", "[2001:db8::1]:8443", "",
    ])
    func hostIsKnownInEverySpelling(wanted: String) {
        let values = ["", "api.example:443", "[2001:db8::1]:8443"]
        #expect(UnknownName((.host, wanted), among: values) == nil)
        #expect(UnknownName((.host, "x" + wanted), among: values) != nil)
    }

    /// An empty host would select requests without one.
    @Test func bracketsWithoutAnAddressAreAnUnknownHost() {
        #expect(UnknownName((.host, "[]"), among: ["", "api.example:443"]) != nil)
    }

    @Test func emptyNameIsNotListed() {
        let names = UnknownName((.error, "timeout"), among: ["", "dns"])
        #expect(names?.list == "There is dns")
        #expect(UnknownName((.error, "x"), among: ["", "dns"])?.nearest == nil)
    }

    @Test func onlyTheUnknownNameOfSeveralIsCorrected() throws {
        let text = sentence(
            [CommandFlag("service", "storfront"), CommandFlag("service", "catalog")],
            try unknown(.service, "storfront", among: ["storefront", "catalog"]))
        #expect(text.hasSuffix("\n  martlet-collector report --service storefront --service catalog\n"))
    }

    @Test func unknownComparedVersionIsReportedWithTheNearestOne() throws {
        let text = sentence(
            [CommandFlag("compare", "version:1.8.3..1.9.9")], try unknown(.version, "1.9.9", among: ["1.8.3", "1.9.0"]))
        #expect(
            text == """
                No version is called 1.9.9. There are 1.8.3 and 1.9.0; nearest: 1.9.0
                  martlet-collector report --compare version:1.8.3..1.9.0

                """)
    }

    /// The versions of `pay` are 1.8 and 2.0, and `shop` only has 1.0.
    @Test(arguments: [
        ("1.0", "No version of the chosen senders is called 1.0", "2.0"), ("2.1", "No version is called 2.1", "2.0"),
        ("1.8", nil, nil),
    ])
    func versionIsSearchedAmongThoseOfTheService(wanted: String, title: String?, nearest: String?) async throws {
        let filters: [FilterValue] = [(.service, "pay"), (.version, "1.8"), (.version, wanted)]
        let name = try await UnknownName.find((.version, wanted), with: filters) { senders in
            senders.contains { $0 == (.service, "pay") } ? ["1.8", "2.0"] : ["1.0", "1.8", "2.0"]
        }
        #expect(name?.title == title)
        #expect(name?.nearest == nearest)
        let service = try await UnknownName.find((.service, "pay"), with: filters) { senders in
            senders.isEmpty ? ["pay", "shop"] : []
        }
        #expect(service == nil)
    }

    @Test func versionIsNotComparedWithItself() throws {
        let text = sentence(
            [CommandFlag("compare", "version:1.8..1.0")],
            try unknown(.version, "1.0", among: ["1.8", "2.0"], notMeaning: ["1.8"]))
        #expect(
            text == """
                No version is called 1.0. There are 1.8 and 2.0; nearest: 2.0
                  martlet-collector report --compare version:1.8..2.0

                """)
    }

    @Test func commandInMarkdownIsABlockOfCode() {
        let text = ReportMarkdown.text(of: report, context([CommandFlag("collector", "http://127.0.0.1:4318")]))
        #expect(text.contains("\n\n    martlet-collector report --since 30d --collector http://127.0.0.1:4318\n"))
    }

    @Test func latestDataOfASilentSenderIsReported() throws {
        let text = sentence(
            [CommandFlag("since", "5m"), CommandFlag("environment", "test")],
            .silent(try sender("storefront", "2", seen: "13:42:10"), latestRequest: nil))
        #expect(
            text == """
                Nothing came from --environment test in the last 5 min. The latest came at 13:42:10 UTC, 3 h 12 min ago, from storefront (2):
                  martlet-collector report --since 2026-11-21T12:43:00Z --until 2026-11-21T13:43:00Z --environment test

                """)
    }

    @Test func latestRequestIsReportedIfItsSenderStillReports() throws {
        func text(_ flags: [CommandFlag]) throws -> String {
            sentence([CommandFlag("since", "5m")] + flags, .idle(latestRequest: try time("13:42:10")))
        }
        #expect(
            try text([CommandFlag("error", "timeout"), CommandFlag("top", "9")]) == """
                No request matches --error timeout in the last 5 min. The latest one came at 13:42:10 UTC, 3 h 12 min ago:
                  martlet-collector report --since 2026-11-21T12:43:00Z --until 2026-11-21T13:43:00Z --error timeout --top 9

                """)
        #expect(try text([]).hasPrefix("No requests in the last 5 min. The latest one came at 13:42:10 UTC, "))
    }

    @Test func latestRequestIsReportedIfTheSenderSentOtherDataLater() throws {
        let flags = [CommandFlag("since", "5m"), CommandFlag("service", "shop")]
        let shop = try sender("shop", "s-1", seen: "16:42:10")
        #expect(
            sentence(flags, .silent(shop, latestRequest: try time("13:42:10"))) == """
                Nothing came from --service shop in the last 5 min. The latest came at 16:42:10 UTC, 12 min ago, from shop (s-1), and the latest request at 13:42:10 UTC, 3 h 12 min ago:
                  martlet-collector report --since 2026-11-21T12:43:00Z --until 2026-11-21T13:43:00Z --service shop

                """)
        let soon = sentence(flags, .silent(shop, latestRequest: nil))
        #expect(soon.contains("from shop (s-1):\n  martlet-collector report --since 2026-11-21T15:43:00Z --until "))
    }

    /// Counted requests may not be kept, and may not have failed.
    @Test func emptyListSuggestsAReportOnTheLatestRequests() throws {
        let flags = [CommandFlag("service", "shop"), CommandFlag("failed"), CommandFlag("store", "sqlite:a")]
        #expect(
            sentence(flags, .idle(latestRequest: try time("13:42:10")), for: "requests").hasSuffix(
                "report --since 2026-11-21T12:43:00Z --until 2026-11-21T13:43:00Z --service shop --store sqlite:a\n"))
    }

    @Test func laterOfTwoComparedVersionsIsAFilter() throws {
        let flags = [CommandFlag("service", "pay"), CommandFlag("compare", "version:1.8..1.9")]
        #expect(
            sentence(flags, .idle(latestRequest: try time("13:42:10"))) == """
                No request matches --service pay --version 1.9 in the last 1 h. The latest one came at 13:42:10 UTC, 3 h 12 min ago:
                  martlet-collector report --since 2026-11-21T12:43:00Z --until 2026-11-21T13:43:00Z --service pay --compare version:1.8..1.9

                """)
        #expect(
            sentence(flags, .nothingFound) == """
                No request matches --service pay --version 1.9 in the last 1 h. Without these filters:
                  martlet-collector report

                """)
    }

    @Test func sendersWithoutRequestsLeadToTheAgentList() throws {
        let flags = [CommandFlag("service", "inner"), CommandFlag("by", "host"), CommandFlag("collector", "http://c")]
        let inner = try sender("inner", "i-1", seen: "16:53:10")
        #expect(
            sentence([CommandFlag("since", "5m")] + flags, .uncounted(inner)) == """
                No requests came from --service inner in the last 5 min, but inner (i-1) was seen at 16:53:10 UTC, 1 min 2 s ago:
                  martlet-collector agents --service inner --collector http://c

                """)
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

    @Test func listWithoutKeptRequestsSaysHowManyWereCounted() {
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

    @Test func emptyListIsExplainedLikeAnEmptyReport() {
        #expect(
            requests([], [CommandFlag("status", "5xx"), CommandFlag("failed")]) == """
                No request matches --status 5xx --failed in the last 1 h. Without these filters:
                  martlet-collector requests

                """)
    }

    @Test func textNamesTheCollectorThatWasQueried() {
        #expect(
            sentence([], .nobodyReported).hasPrefix(
                "No agents have reported yet. A service reports to this collector with "
                    + "MARTLET_ENDPOINT=http://127.0.0.1:4318. Agents report every 10 s.\n"))
        let asked = sentence([CommandFlag("collector", "http://127.0.0.1:24318")], .nobodyReported)
        #expect(asked.contains("MARTLET_ENDPOINT=http://127.0.0.1:24318. "))
        let store = sentence([CommandFlag("store", "sqlite:/tmp/a.sqlite")], .nobodyReported)
        #expect(store.contains("A service reports to the address in MARTLET_ENDPOINT. "))
    }

    @Test func hostileNamesAreEscaped() throws {
        let hostile = "\u{1b}[2J\u{202e}"
        let flags = [CommandFlag("service", hostile)]
        for reason in [
            try unknown(.service, hostile, among: [hostile + "x"]),
            .uncounted(try sender(hostile, hostile, seen: "16:00:00")),
            .refused(try sender(hostile, hostile, seen: "16:00:00"), why: hostile),
            .clockAhead(
                .init(sender: try sender(hostile, hostile, seen: "16:00:00"), host: hostile, seconds: 2),
                latestRequest: try time("16:00:02")),
            .silent(try sender(hostile, hostile, seen: "16:00:00"), latestRequest: nil), .nothingFound,
        ] {
            let text = sentence(flags, reason)
            #expect(text.unicodeScalars.allSatisfy { $0 == "\n" || TerminalText.isPlain($0) })
        }
    }

    @Test(
        arguments: [
            ("storfront", "storefront"), ("STOREFRONT", "storefront"), ("storefront2", "storefront"),
            ("paymets", "payments"), ("pay", "payments"), ("front", "storefront"),
            ("a", nil), ("warehouse", nil), ("", nil),
        ] as [(String, String?)])
    func nearestNameHasFewEdits(name: String, nearest: String?) {
        #expect(NearestName.of(name, among: ["catalog", "payments", "storefront"]) == nearest)
    }
}
