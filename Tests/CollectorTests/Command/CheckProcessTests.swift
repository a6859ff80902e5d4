import Fixtures
import Foundation
import Hummingbird
import MartletReports
import MartletSQLiteStorage
import MartletStorage
import MartletTelemetry
import Testing

/// `check` as a pipeline sees it, and the command that a compared report prints.
@Suite struct CheckProcessTests {
    private let folder: TemporaryFolder
    private let source: [String]
    private let hour = ["--since", "2026-09-21T16:00:00Z", "--until", "2026-09-21T17:00:00Z"]

    init() async throws {
        folder = try TemporaryFolder()
        let store = try await ComparedStore(in: folder)
        try store.storage.close()
        source = ["--store", "sqlite:" + store.path]
    }

    private func check(_ flags: [String]) async throws -> (status: Int32, output: String, errors: String) {
        try await ChildProcess(.martletCollector, ["check"] + flags).finish()
    }

    @Test func limitsThatHoldGiveStatus0() async throws {
        let held = try await check(
            ["--max-failure-rate", "5%", "--max-p99", "1m", "--slo", "99%", "--compare", "previous"]
                + ["--endpoint", "/products"] + hour + source)
        #expect(held.status == 0, "\(held)")
        let lines = held.output.split(separator: "\n")
        #expect(lines.count == 4 && lines.allSatisfy { $0.hasPrefix("✓ ") })
        #expect(lines[0] == "✓ GET /products fails in 0.73 % of 2,880 requests (limit 5 %, nothing lost).")
    }

    @Test(
        arguments: [
            (
                ["--max-failure-rate", "5%"],
                "✗ POST /payments fails in 8.92 % of 2,880 requests (limit 5 %, nothing lost)."
            ),
            (["--max-p99", "800ms"], "✗ p99 of POST /payments is 1.43 s (limit 800 ms, nothing lost)."),
            (["--slo", "99.9%"], "✗ The burn rate of outgoing requests is "),
            (
                ["--compare", "previous"],
                "✗ The only endpoint is worse, compared with the hour before. POST /payments: failures 2.85"
            ),
        ])
    func exceededLimitGivesStatus1(flags: [String], line: String) async throws {
        let result = try await check(flags + ["--service", "storefront", "--endpoint", "/payments"] + hour + source)
        #expect(result.status == 1)
        #expect(result.output.hasPrefix(line), "\(result.output)")
        #expect(result.errors.isEmpty)
    }

    @Test func unknownNameGivesStatus2WithTheNearestName() async throws {
        let result = try await check(["--max-failure-rate", "5%", "--service", "storfront"] + hour + source)
        #expect(result.status == 2)
        #expect(
            result.output.hasPrefix(
                "? No service is called storfront. There are payments and storefront; nearest: storefront\n"))
    }

    @Test func unknownEarlierVersionIsReportedAfterTheRows() async throws {
        let compared = ["--compare", "version:1.8.3..1.9.0", "--service", "storefront"] + hour + source
        let result = try await check(compared)
        #expect(result.status == 2)
        let sentence = "No version is called 1.8.3. There are 1.8.2 and 1.9.0; nearest: 1.8.2"
        #expect(result.output.hasSuffix("\n? \(sentence).\n"), "\(result.output)")
        for format in ["table", "markdown"] {
            let report = try await ChildProcess(
                .martletCollector, ["report", "--format", format] + compared
            ).finish()
            #expect(report.output.contains("\n\(sentence).\n"), "\(report.output)")
        }
    }

    @Test func objectiveOfComparedVersionsIsThatOfTheLaterOne() async throws {
        let objective =
            ["--slo", "99.9%", "--service", "storefront", "--endpoint", "/payments"]
            + ["--since", "2026-09-21T15:30:00Z", "--until", "2026-09-21T16:30:00Z"] + source
        func burn(_ flags: [String]) async throws -> String? {
            try await check(flags + objective).output.split(separator: "\n").first { $0.contains("burn rate") }
                .map(String.init)
        }
        let compared = try #require(try await burn(["--compare", "version:1.8.2..1.9.0"]))
        #expect(try await burn(["--version", "1.9.0"]) == compared)
        #expect(try await burn([]) != compared)
    }

    @Test func unknownNameIsReportedAfterTheRowsOfAKnownOne() async throws {
        let names = ["--service", "storefront", "--service", "payment"] + hour + source
        let result = try await check(["--max-failure-rate", "50%"] + names)
        #expect(result.status == 2)
        let sentence = "No service is called payment. There are payments and storefront; nearest: payments"
        #expect(result.output.hasSuffix("\n? \(sentence).\n"), "\(result.output)")
        let report = try await ChildProcess(.martletCollector, ["report"] + names).finish()
        #expect(report.output.contains("\n\(sentence).\n"), "\(report.output)")
    }

    @Test func nameOfOtherSendersIsReportedWithThoseOfTheChosenOnes() async throws {
        let result = try await check(
            ["--max-failure-rate", "5%", "--service", "payments", "--instance", "storefront-2"] + hour + source)
        #expect(result.status == 2)
        let sentence = "No instance of the chosen senders is called storefront-2. There are payments-1 and payments-2"
        #expect(result.output.hasPrefix("? " + sentence), "\(result.output)")
    }

    @Test(arguments: ["15s", "0"])
    func missingCollectorGivesStatus3(settle: String) async throws {
        let limit = ["--max-failure-rate", "5%", "--settle", settle]
        let result = try await check(limit + ["--collector", "http://127.0.0.1:1"])
        #expect(result.status == 3)
        #expect(result.errors.contains("no collector answers at http://127.0.0.1:1"))
        let missing = try await check(limit + ["--store", "sqlite:" + folder.path("missing.sqlite")])
        #expect(missing.status == 3 && missing.output.isEmpty && !missing.errors.isEmpty)
    }

    /// A sender with OpenTelemetry's interval of 60 s has sent its latest metrics 40 s ago.
    @Test func dataThatEndBeforeTheWindowGiveStatus2WithTheirAge() async throws {
        let (path, time) = (folder.path("late.sqlite"), SystemClock.now() - 40_000_000_000)
        let late = try SQLiteStorage(path: path, now: { time })
        let point = RequestPoint(
            dimensions: Samples.dimensions(), start: time - 60_000_000_000, end: time,
            statistics: Samples.statistics([0.1]))
        let resource = TelemetryResource(service: "checkout", instance: "i-1")
        _ = try await late.store([InstanceMetrics(resource: resource, points: [point])], of: nil)
        try late.close()
        let collector = try await CollectorProcess(store: path)
        for source in [["--store", "sqlite:" + path], ["--collector", collector.address]] {
            let flags = ["--max-failure-rate", "5%"] + source
            let result = try await check(flags + ["--settle", "10ms"])
            #expect(result.status == 2, "\(result)")
            #expect(result.output.hasPrefix("✓ "))
            #expect(result.output.contains("\n? The newest data of checkout is "), "\(result.output)")
            #expect(try await check(flags + ["--settle", "0"]).status == 0)
            let earlier = try await check(flags + ["--until", "100s", "--since", "2h"])
            #expect(!earlier.output.contains("newest data"), "\(earlier)")
        }
    }

    @Test func missingRequestsGiveStatus2() async throws {
        let folder = try TemporaryFolder()
        let store = try await ComparedStore(in: folder, missing: 1)
        try store.storage.close()
        let result = try await check(
            ["--max-failure-rate", "3%", "--endpoint", "/products", "--store", "sqlite:" + store.path] + hour)
        #expect(result.status == 2)
        #expect(result.output.hasSuffix(" The missing requests decide.\n"))
    }

    @Test(
        arguments: [
            [], ["--max-failure-rate", "5"], ["--max-p99", "fast"], ["--slo", "100%"],
            ["--slo", "99%", "--since", "30m"],
            ["--compare", "someday"], ["--slo", "99%", "--settle", "15"], ["--max-p99", "1s", "--since", "someday"],
            ["--max-everything", "1"], ["--no-findings", "broken"], ["--no-findings", "failing,"],
        ])
    func invalidFlagGivesStatus64(flags: [String]) async throws {
        let result = try await check(flags + source)
        #expect(result.status == 64)
        #expect(result.output.isEmpty && !result.errors.isEmpty)
    }

    // MARK: Findings

    /// Checks a store in which GET /orders of the service orders fails since ten minutes ago.
    private func checkOutage(_ flags: [String]) async throws -> (status: Int32, output: String, errors: String) {
        let (folder, minute) = (try TemporaryFolder(), 60_000_000_000 as UInt64)
        let store = try await OutageStore(in: folder, start: SystemClock.now() / minute * minute - 40 * minute)
        return try await check(flags + ["--settle", "0", "--store", "sqlite:" + store.path])
    }

    @Test(
        arguments: [
            (["all"], 1), (["failing,slow"], 1), (["slow,hung"], 0), (["all", "--service", "users"], 0),
            (["all", "--service", "orders", "--kind", "server"], 1), (["all", "--until", "15m"], 0),
            // Not all that happened in so long a time is known.
            (["slow", "--since", "31d"], 2), (["failing", "--since", "31d"], 1),
        ] as [([String], Int32)])
    func findingsOfTheWindowDecide(flags: [String], status: Int32) async throws {
        let result = try await checkOutage(["--no-findings"] + flags)
        #expect(result.status == status, "\(result)")
        switch status {
        case 0: #expect(result.output.hasPrefix("✓ No findings"))
        case 1: #expect(result.output.hasPrefix("✗ failing: GET /orders of orders fails since "))
        default: #expect(result.output.hasPrefix("? Findings may be missing: "))
        }
    }

    @Test func findingIsNamedAfterTheLimitsAndAlsoWithoutRequests() async throws {
        let limited = try await checkOutage(["--max-p99", "1m", "--no-findings", "all"])
        #expect(limited.status == 1)
        let signs = limited.output.split(separator: "\n").compactMap(\.first)
        #expect(signs == ["✓", "✗"], "\(limited.output)")
        let empty = try await checkOutage(["--no-findings", "all", "--status", "404"])
        #expect(empty.status == 1)
        #expect(empty.output.hasPrefix("? ") && empty.output.contains("\n✗ failing: "), "\(empty.output)")
    }

    @Test func collectorThatDoesNotKnowFindingsGivesStatus2() async throws {
        let router = Router(context: BasicRequestContext.self)
        let report = try ReportJSON.text(of: SampleReport.report)
        router.get("api/v1/report") { _, _ in Response(status: .ok, body: .init(byteBuffer: ByteBuffer(string: report)))
        }
        try await LoopbackServer.run(router) { url in
            let result = try await check(
                ["--no-findings", "all", "--settle", "0", "--collector", url.absoluteString])
            #expect(result.status == 2, "\(result)")
            #expect(result.output.hasPrefix("? The collector is too old to list findings"))
        }
    }

    // MARK: Commands

    @Test func failedComparisonPrintsTheCommandThatShowsItsVerdicts() async throws {
        let flags = ["--compare", "previous", "--service", "storefront"] + source
        let failed = try await check(flags + hour)
        #expect(failed.status == 1)
        let line = try #require(failed.output.split(separator: "\n").last { $0.hasPrefix("Again:") })
        let words = line.split(separator: " ").dropFirst(2).map(String.init)
        let shown = try await ChildProcess(.martletCollector, words).finish()
        #expect(shown.status == 0)
        let answer = try #require(shown.output.split(separator: "\n").first)
        #expect(answer.hasSuffix("worse, compared with the hour before."))
        #expect(failed.output.hasPrefix("✗ " + answer))
        let held = try await check(flags + ["--endpoint", "/products"] + hour)
        #expect(held.status == 0)
        #expect(!held.output.contains("Again:"))
        let unknown = try await check(["--compare", "previous", "--endpoint", "/keys"] + source + hour)
        #expect(unknown.status == 2)
        #expect(unknown.output.contains("Again:     martlet-collector report --since"))
    }

    @Test func limitMayBeAFractionOfASecond() async throws {
        let payments = ["--service", "storefront", "--endpoint", "/payments"] + hour + source
        #expect(try await check(["--max-p99", "1.4s"] + payments).status == 1)
        #expect(try await check(["--max-p99", "1.5s"] + payments).status == 0)
        let bare = try await check(["--max-p99", "1500"] + payments)
        #expect(bare.status == 64)
        #expect(bare.errors.contains("with its unit, such as 800ms or 1.5s"))
    }

    @Test func commandPrintedByATableRepeatsItsVerdicts() async throws {
        let flags = ["report", "--compare", "previous", "--top", "2"] + hour
        let first = try await ChildProcess(.martletCollector, flags + source).finish().output
        let line = try #require(first.split(separator: "\n").first { $0.hasPrefix("Again:") })
        let words = line.split(separator: " ").dropFirst(2).map(String.init)
        let again = try await ChildProcess(.martletCollector, words).finish()
        #expect(again.status == 0)
        #expect(again.output == first)
    }
}
