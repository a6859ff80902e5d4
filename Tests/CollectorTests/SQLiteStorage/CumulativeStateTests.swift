import Fixtures
import GRDB
import MartletOTLP
import MartletSQLiteStorage
import MartletStorage
import MartletTelemetry
import Testing

/// The state of cumulative metrics in the store's file.
@Suite struct CumulativeStateTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private var path: String { folder.path("collector.sqlite") }

    private func send(_ count: Int, end: UInt64, to storage: SQLiteStorage) async throws {
        let point = OtherMetrics.point(Array(repeating: 0.2, count: count), end: end)
        try await OtherMetrics.send([OtherMetrics.histogram([point])], instance: "a", to: storage)
    }

    private func count(from: UInt64 = 0, in storage: SQLiteStorage) async throws -> UInt64 {
        let window = TimeWindow(from: Samples.time(from), to: Samples.time(100))
        let answer = try await storage.statistics(StatisticsQuery(window: window, by: []))
        return answer.groups.reduce(0) { $0 + $1.count }
    }

    @Test func restartOfTheCollectorChangesNothing() async throws {
        for round in 1...4 as ClosedRange<UInt64> {
            let storage = try SQLiteStorage(path: path)
            try await send(Int(round) * 3, end: round * 10, to: storage)
            try storage.close()
        }
        #expect(try await count(in: SQLiteStorage(readingFrom: path)) == 12)
    }

    @Test func restartOfTheCollectorForgetsNoWriterOfAStream() async throws {
        for (round, count) in [100, 40, 110, 44, 120, 48].enumerated() {
            let storage = try SQLiteStorage(path: path)
            try await send(count, end: UInt64(round + 1) * 10, to: storage)
            try storage.close()
        }
        #expect(try await count(in: SQLiteStorage(readingFrom: path)) == 168)
    }

    @Test func pointAfterADamagedStateIsNotCounted() async throws {
        let storage = try SQLiteStorage(path: path)
        try await send(2, end: 10, to: storage)
        try await DatabaseQueue(path: path).write { db in
            try db.execute(sql: "UPDATE cumulative_series SET sketch = x'00'")
        }
        try await send(3, end: 20, to: storage)
        // Part of the point had already been counted, and the size of that part is unknown.
        #expect(try await count(from: 10, in: storage) == 0)
        try await send(4, end: 30, to: storage)
        #expect(try await count(from: 20, in: storage) == 1)
    }
}
