import Fixtures
import Foundation
import MartletSQLiteStorage
import MartletStorage
import MartletTelemetry
import Testing

@testable import MartletPage
@testable import MartletReports

/// Who carries a change, in the reports of a store. Of six instances, `i3` fails at one endpoint and `i5` is slow at
/// another, from the second of four ten minutes of the later window on.
@Suite struct ChangeCarriersQueryTests {
    private static let minute: UInt64 = 60_000_000_000
    private static let start = ComparedStore.start
    private static let window = TimeWindow(from: start + 40 * minute, to: start + 80 * minute)
    private static let onset = window.from + 10 * minute

    private let folder: TemporaryFolder
    private let storage: SQLiteStorage

    init() async throws {
        folder = try TemporaryFolder()
        storage = try SQLiteStorage(path: folder.path("collector.sqlite"), now: { Self.window.to })
        let metrics = (0..<6).map { instance in
            var resource = Samples.resource(instance: "i\(instance)")
            resource.version = instance % 2 == 0 ? "1.8.2" : "1.9.0"
            return InstanceMetrics(resource: resource, points: (0..<80).flatMap { Self.points(instance, $0) })
        }
        _ = try await storage.store(metrics, of: nil)
    }

    private static func points(_ instance: Int, _ minute: UInt64) -> [RequestPoint] {
        let end = start + (minute + 1) * Self.minute
        func point(_ path: String, _ seconds: [Double], isFailed: Bool = false) -> RequestPoint {
            RequestPoint(
                dimensions: Samples.dimensions(
                    endpoint: path, status: isFailed ? 503 : 200, error: isFailed ? "503" : nil),
                start: end - Self.minute, end: end, statistics: Samples.statistics(seconds))
        }
        let ten = Array(repeating: 0.1, count: 10)
        let isLate = end > onset
        let failing =
            isLate && instance == 3
            ? [point("/fails", ten), point("/fails", ten, isFailed: true)] : [point("/fails", ten + ten)]
        return failing + [point("/slow", ten + (isLate && instance == 5 ? ten.map { $0 * 9 } : ten))]
    }

    /// Returns the report with verdicts that do not depend on the comparison's tests.
    ///
    /// - Parameter other: a store; `nil` for that of all tests.
    private func report(of other: SQLiteStorage? = nil) async throws -> Report {
        let query = StatisticsQuery(window: Self.window, by: [.service, .kind, .endpoint])
        var report = try await (other ?? storage).report(query, comparedWith: .previous)
        for index in report.rows.indices {
            let isSlow = report.rows[index].text(of: .endpoint) == "/slow"
            report.rows[index].verdict = .worse(
                .init(
                    failures: isSlow ? nil : .init(before: 0, after: 0.0625),
                    p95: isSlow ? .init(before: 150, after: 900) : nil))
            report.rows[index].changed = ChangedTime(
                from: TimeText.exact(Self.onset), until: nil, isFromStart: false)
        }
        return report
    }

    @Test func worseRowsNameTheInstanceThatCarriesTheChange() async throws {
        var report = try await report()
        try await storage.addCarriers(to: &report, RequestFilter())
        for (path, name) in [("/fails", "instance i3"), ("/slow", "instance i5")] {
            let who = try #require(report.rows.first { $0.text(of: .endpoint) == path }?.who)
            #expect(who.values.map(ChangeCarriersText.name) == [name])
            #expect(who.values.first?.count == .init(requests: 600, affected: 300))
            #expect(who.values.first?.others == .init(requests: 3000, affected: 0))
        }
        let text = ReportTable.text(of: report)
        #expect(text.contains(": instance i3 (50.00 %, others 0.00 %)"), "\(text)")
        let json = try ReportJSON.text(of: report)
        #expect(try ReportJSON.value(of: Report.self, in: Data(json.utf8)) == report)
    }

    @Test func pageNamesTheInstance() async throws {
        let window = [
            ("since", TimeText.format(Self.window.from)), ("until", TimeText.format(Self.window.to)),
        ]
        for compare in ["previous", "off"] {
            let pageRequest = try PageRequest(
                PageAddress("/endpoint"),
                window + [("service", "checkout"), ("endpoint", "/fails"), ("kind", "client"), ("compare", compare)],
                now: Self.window.to)
            let html = try await Endpoint(pageRequest, in: storage).html
            let page = ReadPage(status: 200, markup: String(decoding: html.bytes, as: UTF8.self))
            #expect(page.text.contains("Who carries it"), "\(compare)")
            #expect(page.text.contains("instance i3 "), "\(compare): \(page.text)")
            #expect(page.links.contains { $0.hasPrefix("/requests?") && $0.contains("instance=i3") })
        }
    }

    /// Without the instance, the others are alike. A single instance is like nobody.
    @Test func changeOfAllNamesNobody() async throws {
        for (instances, values, words) in [(["i0", "i1"], [], true), (["i3"], nil, false)]
            as [([String], [ChangeCarriers.Carrier]?, Bool)]
        {
            var report = try await report()
            report.rows.removeAll { $0.text(of: .endpoint) != "/fails" }
            try await storage.addCarriers(to: &report, RequestFilter([.instance: Set(instances)]))
            #expect(report.rows.first?.who?.values == values)
            let text = ReportTable.text(of: report)
            #expect(text.contains(": nothing that is counted sets them apart") == words, "\(text)")
        }
    }

    /// Such a sender has no instance in its resource. An empty name says nothing.
    @Test func unknownInstanceIsNotNamed() async throws {
        let storage = try SQLiteStorage(path: folder.path("unknown.sqlite"), now: { Self.window.to })
        let metrics = (0..<6).map { instance in
            InstanceMetrics(
                resource: Samples.resource(instance: instance == 3 ? "" : "i\(instance)"),
                points: (0..<80).flatMap { Self.points(instance, $0) })
        }
        _ = try await storage.store(metrics, of: nil)
        var report = try await report(of: storage)
        report.rows.removeAll { $0.text(of: .endpoint) != "/fails" }
        try await storage.addCarriers(to: &report, RequestFilter())
        #expect(report.rows.first?.who?.values == [])
    }

    @Test func rowsThatAreNotWorseAreNotSearched() async throws {
        var report = try await report()
        for index in report.rows.indices { report.rows[index].verdict = .noChangeFound(wouldHaveSeen: .init()) }
        try await storage.addCarriers(to: &report, RequestFilter())
        #expect(report.rows.allSatisfy { $0.who == nil })
    }
}
