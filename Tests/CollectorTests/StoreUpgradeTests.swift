import Fixtures
import Foundation
import GRDB
import MartletStorage
import MartletTelemetry
import Testing

@testable import MartletSQLiteStorage

/// Stores from earlier versions.
@Suite struct StoreUpgradeTests {
    private let folder: TemporaryFolder
    private let path: String
    private let statistics = Samples.statistics([0.1, 0.2], sent: 1, received: 2)

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path("collector.sqlite")
        let queue = try DatabaseQueue(path: path)
        try queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA application_id = \(Schema.applicationID)") }
        try Schema.migrator.migrate(queue, upTo: "1 resources, points, batches, ledgers, details")
        try queue.write { [statistics] db in
            try db.execute(
                sql: """
                    INSERT INTO resource VALUES (1, 'checkout', '1.2', 'test', 'i-1', 'web-1', 'automatic', 'martlet', 1, 1);
                    INSERT INTO series VALUES (1, 1, 'client', 'GET', 'api.example.com', 443, '/users/{id}', 200, '');
                    INSERT INTO detail VALUES (1, 1, 1, 'client', 'GET', 'api.example.com', 443, '/users/{id}', 503, '503',
                        x'01000000000000000000000000000001', x'0000000000000001', x'', 1, 2, 'u', 3, 4, 'no');
                    INSERT INTO batch VALUES ('i-1', 'metrics', 1, 1), ('i-1', 'metrics', 3, 1), ('i-1', 'traces', 2, 1);
                    """)
            try db.execute(
                sql: "INSERT INTO point VALUES (?, ?, 1, 2, 1, 2, ?)",
                arguments: [
                    Int64(Samples.time(0)), Int64(Samples.time(10)), Data(SketchBlob.encode(statistics.duration)),
                ])
        }
        try queue.close()
    }

    @Test func aStoreFromBeforePhasesIsBroughtUpToDateAndKeepsItsPoints() async throws {
        let storage = try SQLiteStorage(path: path)
        var later = RequestPoint(
            dimensions: Samples.dimensions(), start: Samples.time(10), end: Samples.time(20), statistics: statistics)
        later.statistics.phases = Samples.phases([.dns: (1, 0.5)])
        _ = try await storage.store([InstanceMetrics(resource: Samples.resource(), points: [later])], of: nil)
        let answer = try await storage.statistics(StatisticsQuery(window: Samples.everything, by: []))
        let all = try #require(answer.groups.first).statistics
        #expect(answer.damagedPoints == 0)
        #expect(all.duration.count == 4)
        #expect(all.phases == later.statistics.phases)
        #expect(try await storage.agents().map(\.resource.captureReason) == [nil])
    }

    @Test func pointsOfAStoreFromBeforeChunksAreCountedByTheirSendersAndSeries() async throws {
        try await DatabaseQueue(path: path).write { [statistics] db in
            try db.execute(
                sql: """
                    INSERT INTO resource VALUES (2, 'checkout', '1.2', 'test', 'i-2', 'web-1', 'automatic', 'martlet', 1, 1);
                    INSERT INTO series VALUES (2, 2, 'client', 'GET', 'api.example.com', 443, '/users/{id}', 200, '');
                    """)
            let sketch = Data(SketchBlob.encode(statistics.duration))
            // The points: one of another sender at the same moment, one of a minute, and one whose count differs from its
            // sketch.
            for (start, end, series, count) in [(0, 10, 2, 2), (0, 60, 2, 2), (10, 20, 1, 7)]
                as [(UInt64, UInt64, Int, Int)]
            {
                try db.execute(
                    sql: "INSERT INTO point VALUES (?, ?, ?, ?, 1, 2, ?)",
                    arguments: [Int64(Samples.time(start)), Int64(Samples.time(end)), series, count, sketch])
            }
        }
        let storage = try SQLiteStorage(path: path)
        let answer = try await storage.statistics(StatisticsQuery(window: Samples.everything, by: [.instance]))
        #expect(
            Dictionary(uniqueKeysWithValues: answer.groups.map { ($0.values[0], $0.count) }) == ["i-1": 2, "i-2": 4])
        #expect(answer.damagedPoints == 1)
        let tiers = try await DatabaseQueue(path: path).read {
            try Int.fetchAll($0, sql: "SELECT tier FROM chunk ORDER BY end_time, resource_id")
        }
        #expect(tiers == [0, 0, 0, 1])
    }

    @Test func aStoreFromBeforeSpansIsBroughtUpToDateAndKeepsItsDetails() async throws {
        let trace = try #require(TraceID(high: 1 << 56, low: 1))
        let stored = try #require(try await SQLiteStorage(path: path).spans(ofTrace: trace).first)
        #expect(stored.span.name == "GET /users/{id}")
        #expect(stored.span.kind == .client)
        #expect(stored.span.isError)
        #expect(stored.span.request == Samples.dimensions(status: 503, error: "503"))
        #expect(stored.resource.service == "checkout")
    }

    @Test func aStoreFromBeforeStreamsKnowsTheBatchesThatItHas() async throws {
        let storage = try SQLiteStorage(path: path, now: { 2 })
        func outcome(_ sequence: UInt64, _ signal: Signal = .metrics) async throws -> StoreOutcome {
            let batch = BatchID(instance: "i-1", sequence: sequence, signal: signal)
            return signal == .metrics
                ? try await storage.store([InstanceMetrics](), of: batch)
                : try await storage.store([DetailsBatch](), of: batch)
        }
        #expect(try await storage.agents().first?.arrivals == BatchArrivals(missing: 1, overlapping: 0))
        #expect(try await [outcome(1), outcome(3), outcome(2, .traces)] == [.duplicate, .duplicate, .duplicate])
        #expect(try await [outcome(2), outcome(1, .traces)] == [.stored, .stored])
    }

    @Test func anOutdatedStoreIsNotRead() {
        #expect(throws: StorageFailure.self) { try SQLiteStorage(readingFrom: path) }
    }
}
