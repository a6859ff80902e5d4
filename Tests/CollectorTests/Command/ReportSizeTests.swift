import Fixtures
import MartletReports
import MartletSQLiteStorage
import MartletStorage
import MartletTelemetry
import Testing

/// The limit of a report's rows, from the collector and from the command.
@Suite struct ReportSizeTests {
    private let folder: TemporaryFolder
    private var path: String { folder.path("collector.sqlite") }

    init() throws {
        folder = try TemporaryFolder()
    }

    private func fill(_ storage: SQLiteStorage, instances: Int, endpoints: Int, end: UnixNanoseconds) async throws {
        let points = (0..<endpoints).map { endpoint in
            RequestPoint(
                dimensions: Samples.dimensions(endpoint: "/\(endpoint)"), start: end - 10_000_000_000, end: end,
                statistics: Samples.statistics([0.1]))
        }
        for instance in 0..<instances {
            let resource = Samples.resource(instance: "i-\(instance)")
            _ = try await storage.store([InstanceMetrics(resource: resource, points: points)], of: nil)
        }
    }

    @Test func rowsUpToTheLimitAreAnsweredAndMoreRefused() async throws {
        var limits = SQLiteLimits()
        limits.maxGroups = 4
        let storage = try SQLiteStorage(path: path, limits: limits)
        try await fill(storage, instances: 2, endpoints: 3, end: Samples.time(10))
        for (by, rows) in [([Dimension.endpoint], 3), ([.instance], 2), ([], 1)] {
            let answer = try await storage.statistics(StatisticsQuery(window: Samples.everything, by: by))
            #expect(answer.groups.count == rows)
        }
        await #expect(throws: TooManyGroups(limit: 4)) {
            _ = try await storage.statistics(
                StatisticsQuery(window: Samples.everything, by: [.instance, .endpoint]))
        }
    }

    @Test func collectorAndCommandHaveTheFirstRowsOfManyAndSuggestASmallerReport() async throws {
        let limits = SQLiteLimits()
        let storage = try SQLiteStorage(path: path)
        let instances = limits.maxGroups / 1000 + 1
        try await fill(storage, instances: instances, endpoints: 1000, end: SystemClock.now())
        try storage.close()
        let collector = try await CollectorProcess(store: path)
        for source in [["--collector", collector.address], ["--store", "sqlite:" + path]] {
            let flags = ["report", "--by", "endpoint", "--by", "instance"] + source
            let first = try await ChildProcess(.martletCollector, flags + ["--top", "10"]).finish()
            #expect(first.status == 0)
            #expect(first.output.contains("first 10 of \(FigureText.grouped(UInt64(instances * 1000))) rows"))
            let more = try await ChildProcess(.martletCollector, flags).finish()
            #expect(more.status == 64)
            #expect(more.output.isEmpty)
            #expect(more.errors.contains("more than \(limits.maxGroups) rows; ask for fewer dimensions"))
        }
    }
}
