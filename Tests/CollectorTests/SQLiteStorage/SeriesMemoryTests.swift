import Fixtures
import Foundation
import GRDB
import MartletStorage
import MartletTelemetry
import Testing

@testable import MartletSQLiteStorage

@Suite struct SeriesMemoryTests {
    private let folder: TemporaryFolder
    private let storage: SQLiteStorage

    init() throws {
        folder = try TemporaryFolder()
        storage = try SQLiteStorage(path: folder.path("collector.sqlite"))
    }

    private func store(_ endpoint: String, of service: String = "checkout", end: UInt64 = 10) async throws {
        let point = Samples.point(Samples.dimensions(endpoint: endpoint), [1], end: end)
        _ = try await storage.store(
            [InstanceMetrics(resource: Samples.resource(service), points: [point])], of: nil)
    }

    private func answer(_ filter: RequestFilter = RequestFilter()) async throws -> StatisticsAnswer {
        try await storage.statistics(StatisticsQuery(window: Samples.everything, filter: filter, by: [.endpoint]))
    }

    @Test func seriesNewerThanTheCacheCounts() async throws {
        try await store("/a")
        #expect(try await answer().groups.map(\.values) == [["/a"]])
        try await store("/b", end: 20)
        let values = try await answer().groups.map(\.values)
        #expect(values == [["/a"], ["/b"]])
        let found = try await answer(RequestFilter([.endpoint: ["/b"]])).groups.map(\.values)
        #expect(found == [["/b"]])
    }

    /// A reused number would give the names of a deleted series to another.
    @Test func numberOfADeletedSeriesIsNotReused() async throws {
        try await store("/a")
        #expect(try await answer().groups.map(\.values) == [["/a"]])
        try await storage.pool.write { db in
            for table in ["chunk", "series"] { try db.execute(sql: "DELETE FROM \(table)") }
        }
        storage.series.withLock { $0.removeAll() }
        try await store("/b", end: 20)
        let values = try await answer().groups.map(\.values)
        #expect(values == [["/b"]])
    }

    @Test func cacheHasALimit() async throws {
        let memory = SeriesMemory(maxSeries: 500)
        for number in 0..<6 {
            let points = (0..<90).map { Samples.point(Samples.dimensions(endpoint: "/\($0)"), [1]) }
            let metrics = InstanceMetrics(resource: Samples.resource("service-\(number)"), points: points)
            _ = try await storage.store([metrics], of: nil)
            try await storage.pool.read { _ = try memory.series(of: "service-\(number)", in: $0) }
            #expect(memory.count == [90, 180, 270, 360, 450, 90][number])
        }
    }

    /// Points of a service without the wanted endpoint are not read, so damage among them does not affect the answer.
    @Test func servicesWithoutASelectedSeriesAreNotRead() async throws {
        try await store("/a", of: "checkout")
        try await store("/b", of: "prices")
        try await storage.pool.write { db in
            try db.execute(
                sql: """
                    UPDATE chunk SET points = ?
                    WHERE resource_id = (SELECT id FROM resource WHERE service = 'prices')
                    """, arguments: [Data([1, 2, 3])])
        }
        let all = try await answer()
        #expect(all.damagedPoints == 1)
        let ofOne = try await answer(RequestFilter([.endpoint: ["/a"]]))
        #expect(ofOne.damagedPoints == 0)
        #expect(ofOne.groups.map(\.count) == [1])
    }
}
