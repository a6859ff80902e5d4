import Fixtures
import GRDB
import MartletSQLiteStorage
import MartletStorage
import MartletTelemetry
import Testing

@Suite struct ChunkDamageTests {
    private let folder: TemporaryFolder
    private let storage: SQLiteStorage

    init() throws {
        folder = try TemporaryFolder()
        storage = try SQLiteStorage(path: folder.path("collector.sqlite"))
    }

    private func store(_ points: [RequestPoint]) async throws {
        _ = try await storage.store([InstanceMetrics(resource: Samples.resource(), points: points)], of: nil)
    }

    @Test(arguments: ["substr(points, 1, 12)", "x'ff' || substr(points, 2)"])
    func damagedPointIsLeftOutAndReported(damage: String) async throws {
        try await store([Samples.point(Samples.dimensions(), [1, 1], end: 10)])
        try await store([Samples.point(Samples.dimensions(), [1], end: 20)])
        try await DatabaseQueue(path: folder.path("collector.sqlite")).write { db in
            try db.execute(sql: "UPDATE chunk SET points = CAST(\(damage) AS BLOB) WHERE id = 1")
        }
        for _ in 0..<2 {
            let answer = try await storage.statistics(StatisticsQuery(window: Samples.everything, by: []))
            #expect(answer.groups.map(\.count) == [1])
            #expect(answer.damagedPoints == 1)
            // The damaged point is also reported after its roll-up.
            try await storage.maintain()
        }
    }
}
