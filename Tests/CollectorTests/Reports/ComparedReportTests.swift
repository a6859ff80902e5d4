import Fixtures
import Foundation
import HummingbirdTesting
import MartletSQLiteStorage
import MartletStorage
import MartletTelemetry
import Synchronization
import Testing

@testable import MartletReports

@Suite struct ComparedReportTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func query(limit: Int? = nil, by: [MartletStorage.Dimension] = [.service, .kind, .endpoint])
        -> StatisticsQuery
    {
        StatisticsQuery(window: ComparedStore.window, by: by, limit: limit)
    }

    private func words(_ report: Report) -> [String: String] {
        Dictionary(
            report.rows.map { row in
                let name = [.service, .kind, .endpoint].map(row.text).joined(separator: " ")
                return (name, row.verdict.map(VerdictText.word) ?? "none")
            }
        ) { first, _ in first }
    }

    private let expected = [
        "storefront client /payments": "worse", "payments server /payments": "worse",
        "payments client /charges": "worse",
        "storefront client /products/{product}/reviews": "better", "storefront client /products": "no change found",
        "storefront client /products/{id}": "no change found", "payments client /keys": "not enough data",
    ]

    @Test func everyRowHasAVerdictAndItsEarlierFigures() async throws {
        let store = try await ComparedStore(in: folder).storage
        let report = try await store.report(query(), comparedWith: .previous)
        #expect(words(report) == expected)
        let comparison = try #require(report.compare)
        let counts: [Int] = [comparison.worse, comparison.better, comparison.same, comparison.tooLittleData]
        #expect(counts == [3, 1, 2, 1])
        #expect(
            [comparison.base, comparison.from, comparison.to] == ["previous", "2026-09-21T15:00:00Z", report.from])
        #expect(comparison.pastHours == 25)
        let hourBefore = TimeWindow(from: ComparedStore.start, to: ComparedStore.window.from)
        var plain = query()
        plain.window = hourBefore
        let before = try await store.report(plain)
        for row in report.rows {
            guard let figures = row.before else { continue }
            let alone = try #require(before.rows.first { $0.dimensions == row.dimensions }?.measures)
            #expect(figures.count == alone.count && figures.failures == alone.failures)
            // A sum of blocks may round differently than a sum of points.
            #expect(abs(figures.latency.mean - alone.latency.mean) < 1e-9)
            #expect([figures.latency.p50, figures.latency.p99] == [alone.latency.p50, alone.latency.p99])
        }
        #expect(report.rows.filter { $0.before == nil }.map { $0.text(of: .endpoint) } == ["/keys"])
        #expect(report.totals.verdict == nil && report.totalsByKind.values.allSatisfy { $0.verdict == nil })
    }

    @Test func goneRowIsReportedWithItsEarlierFigures() async throws {
        let store = try await ComparedStore(in: folder).storage
        let comparison = try #require(try await store.report(query(), comparedWith: .previous).compare)
        #expect(comparison.goneCount == 1)
        #expect(comparison.gone.map { $0.text(of: .endpoint) } == ["/old"])
        #expect(comparison.gone.map(\.measures.count) == [720])
    }

    @Test func limitCutsRowsButChangesNoVerdict() async throws {
        let store = try await ComparedStore(in: folder).storage
        let all = try await store.report(query(), comparedWith: .previous)
        let first = try await store.report(query(limit: 1), comparedWith: .previous)
        // The total is added up in another order, so a share of it may round differently.
        let (one, wanted) = (try #require(first.rows.first), all.rows[0])
        var row = one
        row.measures.impact = wanted.measures.impact
        if let before = wanted.before { row.before?.impact = before.impact }
        #expect(first.rows.count == 1 && row == wanted)
        #expect(isNear(one.measures.impact, wanted.measures.impact))
        #expect(isNear(one.before?.impact, wanted.before?.impact))
        #expect(first.compare?.worse == 3 && first.compare?.same == 2)
        let text = ReportTable.text(of: first, on: OutputDevice(columns: 100))
        #expect(text.hasPrefix("3 of 7 endpoints are worse, compared with the hour before."))
        #expect(text.contains("\n  and more: 2 worse, 1 better\n"))
    }

    @Test func firstFiftyRowsOrAllShownRowsAreCompared() async throws {
        let storage = try SQLiteStorage(path: folder.path("many.sqlite"), now: { ComparedStore.window.to })
        try await fill(storage, 1...620)
        func compared(_ limit: Int?) async throws -> [Int] {
            let report = try await storage.report(query(limit: limit), comparedWith: .previous)
            #expect(report.rowCount == 620 && report.rows.allSatisfy { $0.verdict != nil })
            return [report.rows.count, report.compare?.tooLittleData ?? 0]
        }
        let (few, many, all) = (try await compared(2), try await compared(600), try await compared(nil))
        #expect(few == [2, 50] && many == [600, 600] && all == [620, 620])
        let report = try await storage.report(query(limit: 2), comparedWith: .previous)
        #expect(report.rows.map { $0.text(of: .endpoint) } == ["/620", "/619"])
        #expect(
            ReportTable.text(of: report).hasPrefix(
                "Not enough data to compare the first 50 endpoints with the hour before."))
        try await fill(storage, 621...1001)
        await #expect(throws: TooManyGroups(limit: 1000)) { try await compared(nil) }
    }

    /// Stores a request of each endpoint.
    private func fill(_ storage: SQLiteStorage, _ endpoints: ClosedRange<Int>) async throws {
        let minute: UInt64 = 60_000_000_000
        let points = endpoints.map { endpoint in
            RequestPoint(
                dimensions: Samples.dimensions(endpoint: "/\(endpoint)"), start: ComparedStore.window.to - minute,
                end: ComparedStore.window.to, statistics: Samples.statistics([0.001 * Double(endpoint)]))
        }
        _ = try await storage.store([InstanceMetrics(resource: Samples.resource("many"), points: points)], of: nil)
    }

    /// Compares the hour of one version with the hour of the other. Both are in the window of two hours.
    @Test func versionIsComparedWithAnother() async throws {
        let store = try await ComparedStore(in: folder).storage
        var both = query()
        both.window.from = ComparedStore.start
        let report = try await store.report(both, comparedWith: .versions(before: "1.8.2", after: "1.9.0"))
        #expect(report.rows.allSatisfy { $0.measures.count <= 2880 })
        #expect(report.compare?.base == "version:1.8.2..1.9.0")
        #expect(report.compare?.pastHours == 0 && report.rows.allSatisfy { $0.changed == nil })
        #expect(words(report)["storefront client /products/{product}/reviews"] == "better")
    }

    @Test func timeOfAChangeWithinTheWindowIsFound() async throws {
        let store = try await ComparedStore(in: folder).storage
        var query = query()
        let tenMinutes: UInt64 = 600_000_000_000
        query.window = TimeWindow(
            from: ComparedStore.window.from - tenMinutes, to: ComparedStore.window.to - tenMinutes)
        query.step = 120_000_000_000
        let report = try await store.report(query, comparedWith: .previous)
        let row = try #require(report.rows.first { $0.text(of: .endpoint) == "/products/{product}/reviews" })
        #expect(row.changed == ChangedTime(from: "2026-09-21T16:00:00Z", until: nil, isFromStart: false))
        #expect(report.rows.first { $0.text(of: .endpoint) == "/products" }?.changed == nil)
        let text = ReportTable.text(of: report, on: OutputDevice(columns: 160))
        #expect(text.contains("/products/{product}/reviews   p50 59.0 → 41.1 ms, p95 86.3 → 71.4 ms, since 16:00"))
    }

    @Test func changeBetweenTheWindowsLastsAllTheTime() async throws {
        let store = try await ComparedStore(in: folder).storage
        var query = query()
        query.step = 120_000_000_000
        let report = try await store.report(query, comparedWith: .previous)
        let row = try #require(report.rows.first { $0.text(of: .endpoint) == "/products/{product}/reviews" })
        #expect(row.changed == ChangedTime(from: report.from, until: nil, isFromStart: true))
        #expect(row.changed?.text { _ in "" } == "all the time")
        // Times do not depend on the slots of a trend.
        query.step = nil
        let plain = try await store.report(query, comparedWith: .previous)
        #expect(plain.rows.map(\.changed) == report.rows.map(\.changed))
    }

    /// An endpoint fails in all requests after two good minutes, and had none before.
    @Test(arguments: [30, 120] as [UInt64])
    func newRowThatFailsSinceAMinuteOfItsLifeIsWorse(minutes: UInt64) async throws {
        let (end, minute) = (ComparedStore.window.to, 60_000_000_000 as UInt64)
        let storage = try SQLiteStorage(path: folder.path("new.sqlite"), now: { end })
        let points = (0..<8 as Range<UInt64>).map { index in
            RequestPoint(
                dimensions: Samples.dimensions(
                    endpoint: "/new", status: index < 2 ? 200 : 503, error: index < 2 ? nil : "503"),
                start: end - (8 - index) * minute, end: end - (7 - index) * minute,
                statistics: Samples.statistics(Array(repeating: 0.1, count: 60)))
        }
        _ = try await storage.store([InstanceMetrics(resource: Samples.resource(), points: points)], of: nil)
        let query = StatisticsQuery(window: TimeWindow(from: end - minutes * minute, to: end), by: [.endpoint])
        let report = try await storage.report(query, comparedWith: .previous)
        let row = try #require(report.rows.first)
        #expect(row.verdict == .worse(.init(failures: .init(before: 0, after: 1))))
        #expect(
            row.changed == ChangedTime(from: TimeText.exact(end - 6 * minute), until: nil, isFromStart: false))
        #expect(report.compare?.worse == 1 && report.compare?.pastHours == 0)
    }

    @Test func stepOfATrendDoesNotAffectTheVerdicts() async throws {
        let store = try await ComparedStore(in: folder).storage
        var query = query()
        query.step = 1_200_000_000_000
        let report = try await store.report(query, comparedWith: .previous)
        #expect(words(report) == expected)
        #expect(report.rows.allSatisfy { $0.trend?.count.count == 3 })
    }

    @Test func windowBetweenSlotBordersIsComparedInWholeSlots() async throws {
        let store = try await ComparedStore(in: folder).storage
        var query = query()
        query.window = TimeWindow(
            from: ComparedStore.start + ComparedStore.hour - 127_000_000_000,
            to: ComparedStore.window.to - 127_000_000_000)
        let report = try await store.report(query, comparedWith: .previous)
        #expect([report.from, report.to] == ["2026-09-21T15:57:53Z", "2026-09-21T16:57:53Z"])
        #expect(words(report)["payments client /charges"] == "worse")
    }

    /// Requests of the last seconds are in a slot that has not ended.
    @Test func comparisonDoesNotChangeTheFiguresOfTheRows() async throws {
        let store = try await ComparedStore(in: folder).storage
        let end = ComparedStore.window.to + 4_000_000_000
        let point = RequestPoint(
            dimensions: Samples.dimensions(endpoint: "/newest"), start: end - 10_000_000_000, end: end,
            statistics: Samples.statistics([0.1, 0.1]))
        _ = try await store.store([InstanceMetrics(resource: Samples.resource("newest"), points: [point])], of: nil)
        var query = query()
        query.window = TimeWindow(from: ComparedStore.window.from + 7_000_000_000, to: end + 3_000_000_000)
        let (plain, compared) = (
            try await store.report(query), try await store.report(query, comparedWith: .previous)
        )
        #expect([compared.from, compared.to] == [plain.from, plain.to])
        #expect(compared.rows.map(\.dimensions) == plain.rows.map(\.dimensions))
        #expect(compared.rows.map(\.measures.count) == plain.rows.map(\.measures.count))
        #expect(compared.rows.contains { $0.text(of: .endpoint) == "/newest" && $0.verdict != nil })
        #expect(words(compared)["storefront client /payments"] == "worse")
    }

    /// In the order of this report, the worse rows are not the first ones.
    @Test func worseRowsAreShownBeforeOthers() async throws {
        let store = try await ComparedStore(in: folder).storage
        var few = query(limit: 4)
        few.order = GroupOrder(.p50, ascending: true)
        few.step = 120_000_000_000
        let report = try await store.report(few, comparedWith: .previous)
        #expect(
            report.rows.map { $0.verdict.map(VerdictText.word) } == ["better", "worse", "worse", "worse"])
        #expect(report.rows.map(\.measures.latency.p50) == report.rows.map(\.measures.latency.p50).sorted())
        #expect(report.rows.allSatisfy { $0.trend?.count.reduce(0, +) == $0.measures.count && $0.before != nil })
        let text = ReportTable.text(of: report, on: OutputDevice(columns: 100))
        #expect(text.contains("\nthe first 4 of 7 rows, worse ones first; totals are of all rows\n"))
        #expect(!text.contains("and more:"))
        few.limit = 2
        let two = try await store.report(few, comparedWith: .previous)
        #expect(two.rows.allSatisfy { $0.verdict.map(VerdictText.word) == "worse" })
        #expect(ReportTable.text(of: two).contains("and more: 1 worse, 1 better"))
    }

    @Test(arguments: [(7, false), (24 * 8, true)] as [(UInt64, Bool)])
    func minutesCanBeComparedButHoursAreTooFew(hours: UInt64, areHoursLeft: Bool) async throws {
        let store = try await ComparedStore(in: folder)
        store.clock.time += hours * ComparedStore.hour
        try await store.storage.maintain()
        let report = try await store.storage.report(query(), comparedWith: .previous)
        #expect([report.compare?.from, report.from] == ["2026-09-21T15:00:00Z", "2026-09-21T16:00:00Z"])
        guard areHoursLeft else { return #expect(words(report) == expected) }
        #expect(report.rows.allSatisfy { $0.verdict.map(VerdictText.word) == "not enough data" })
    }

    // MARK: HTTP

    @Test func apiGivesTheSameComparisonAsTheStore() async throws {
        let store = try await ComparedStore(in: folder)
        var report = try await store.storage.report(
            StatisticsQuery(window: ComparedStore.window, by: ReportParameter.defaultBy), comparedWith: .previous)
        try await store.storage.addCarriers(to: &report, RequestFilter())
        let json = try ReportJSON.text(of: report)
        try store.storage.close()
        let window = "since=\(report.from)&until=\(report.to)"
        try await withServer(store: store.path) { client in
            let response = try await client.get("/api/v1/report?\(window)&compare=previous")
            #expect(String(buffer: response.body) == json)
            for query in [
                "compare=someday", "compare=previous&compare=day", "compare=30m", "compare=version:1..2&version=2",
            ] {
                #expect(try await client.get("/api/v1/report?\(window)&\(query)").status == .badRequest)
            }
            #expect(try await client.get("/api/v1/series?\(window)&compare=previous").status == .badRequest)
        }
    }

    /// ClickHouse answers the queries of a call one after the other, first those for the order of the rows.
    @Test func pointThatArrivesBetweenTwoAnswersCountsNeitherInRowsNorInTotals() async throws {
        let store = try await ComparedStore(in: folder)
        let query = query(limit: 3, by: [.service, .endpoint])
        let before = try await store.storage.report(query, comparedWith: .previous)
        let late = LateStore(storage: store.storage)
        let report = try await late.report(query, comparedWith: .previous)
        #expect(report.totals.measures == before.totals.measures)
        #expect(report.rows.map(\.measures) == before.rows.map(\.measures))
    }

    /// Whether two figures differ by no more than the rounding of sums.
    private func isNear(_ one: Double?, _ other: Double?) -> Bool {
        guard let one, let other else { return one == other }
        return abs(one - other) <= 1e-9 * abs(other)
    }
}

/// A store that receives a point between the answers to the first call.
private final class LateStore: StorageWrapper {
    let storage: any Storage
    private let questions = Mutex(0)

    init(storage: any Storage) {
        self.storage = storage
    }

    func statistics(_ queries: [StatisticsQuery]) async throws -> [Result<StatisticsAnswer, TooManyGroups>] {
        let answers = try await storage.statistics(queries)
        let number = questions.withLock { number in
            number += 1
            return number
        }
        if number == 1 {
            let end = ComparedStore.window.to
            let point = RequestPoint(
                dimensions: Samples.dimensions(endpoint: "/payments"), start: end - 10_000_000_000, end: end,
                statistics: Samples.statistics(Array(repeating: 0.5, count: 500)))
            let metrics = InstanceMetrics(resource: Samples.resource("storefront", instance: "late"), points: [point])
            _ = try await storage.store([metrics], of: nil)
            return try await Array(answers.prefix(2)) + storage.statistics(queries).dropFirst(2)
        }
        return answers
    }
}
