import Fixtures
import GRDB
import MartletStorage
import MartletTelemetry
import Testing

@testable import MartletSQLiteStorage

/// The writer's cache of each sender's row.
@Suite struct SenderRowTests {
    private let folder: TemporaryFolder
    private let storage: SQLiteStorage

    init() throws {
        folder = try TemporaryFolder()
        storage = try SQLiteStorage(path: folder.path("collector.sqlite"))
    }

    private func store(_ resource: TelemetryResource, end: UInt64) async throws {
        #expect(try await storage.store([Samples.metrics(end: end, resource: resource)], of: nil) == .stored)
    }

    @Test func senderGetsANewRowAfterItsOldOneWasReused() async throws {
        let (first, second) = (Samples.resource(instance: "first"), Samples.resource(instance: "second"))
        try await store(first, end: 10)
        try await DatabaseQueue(path: folder.path("collector.sqlite")).write { db in
            for table in ["chunk", "ledger", "resource"] { try db.execute(sql: "DELETE FROM \(table)") }
        }
        try await store(second, end: 20)
        try await store(first, end: 30)
        try await store(first, end: 40)
        #expect(try await Set(storage.agents().map(\.resource)) == [first, second])
        let answer = try await storage.statistics(StatisticsQuery(window: Samples.everything, by: [.instance]))
        #expect(answer.byValues.mapValues(\.duration.count) == [["first"]: 2, ["second"]: 1])
    }

    @Test func lastDescriptionOfASenderIsKept() async throws {
        var other = Samples.resource()
        other.captureMode = "explicit"
        for (index, resource) in [Samples.resource(), other, Samples.resource()].enumerated() {
            try await store(resource, end: UInt64(10 * index + 10))
            #expect(try await storage.agents().map(\.resource) == [resource])
        }
    }

    /// The index of last hours is written once an hour, so the cache has to know what a rollback undid.
    @Test func senderIsFoundByItsLastHourAfterAFailedBatch() async throws {
        let (late, clock) = (folder.path("late.sqlite"), Clock())
        clock.time = Samples.time(0)
        let storage = try SQLiteStorage(path: late, now: { clock.time })
        _ = try await storage.store([Samples.metrics(end: 10)], of: nil)
        clock.time = Samples.time(7200)
        try await storage.pool.write {
            try $0.execute(
                sql: "CREATE TRIGGER fail BEFORE INSERT ON ledger BEGIN SELECT RAISE(ABORT, 'no room'); END")
        }
        await #expect(throws: DatabaseError.self) {
            try await storage.store([Samples.metrics(end: 7200)], of: nil)
        }
        try await storage.pool.write { try $0.execute(sql: "DROP TRIGGER fail") }
        _ = try await storage.store([Samples.metrics(captured: 2, end: 7200)], of: nil)
        #expect(try await storage.agents(seenSince: Samples.time(7000), limit: 10).agents.count == 1)
        let window = TimeWindow(from: Samples.time(7000), to: Samples.time(7200))
        #expect(try await storage.account(in: window, RequestFilter()).completeness == 1)
    }

    /// Otherwise the senders would decide how much memory the cache takes.
    @Test func senderWithLongTextsIsNotCached() {
        var (ofRuntime, ofAttributes) = (
            Samples.resource(instance: "runtime"), Samples.resource(instance: "attributes")
        )
        ofRuntime.runtime = String(repeating: "r", count: 2_000)
        ofAttributes.attributes = ["name": String(repeating: "a", count: 2_000)]
        let (senders, cache) = ([Samples.resource(), ofRuntime, ofAttributes], WriterResources())
        for sender in senders { cache.keep(7, hour: 1, of: sender) }
        #expect(senders.map { cache.find($0)?.id } == [7, nil, nil])
    }
}
