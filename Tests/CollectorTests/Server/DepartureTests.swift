import Fixtures
import GRDB
import HummingbirdTesting
import MartletStorage
import MartletTelemetry
import Testing

@testable import MartletSQLiteStorage
@testable import MartletServer

/// Reads are cancelled when their client leaves.
@Suite(.timeLimit(.minutes(3))) struct DepartureTests {
    private static let request = "GET /api/v1/report?since=1h HTTP/1.1\r\nHost: test\r\n\r\n"

    private func limits(waiting: Int) -> ServerLimits {
        var limits = ServerLimits()
        (limits.maxReads, limits.maxWaitingReads) = (1, waiting)
        return limits
    }

    @Test func reportEndsWhenItsClientLeaves() async throws {
        let (starts, started) = AsyncStream.makeStream(of: Void.self)
        let (ends, ended) = AsyncStream.makeStream(of: Void.self)
        try await withServer(
            serverLimits: limits(waiting: 0), storage: { EndlessReads(storage: $0, started: started, ended: ended) }
        ) { client in
            try await RawConnection.open(port: client.port) { connection in
                try await connection.send(Self.request)
                _ = await starts.first { true }
                #expect(try await client.get("/api/v1/agents").status == .serviceUnavailable)
            }
            _ = await ends.first { true }
            try await wait(for: "a free slot") { try await client.get("/api/v1/agents").status == .ok }
        }
    }

    @Test func connectionStaysOpenAfterAReport() async throws {
        try await withServer { client in
            try await RawConnection.open(port: client.port) { connection in
                // Two requests arrive together, and another one after them.
                for requests in [2, 1] {
                    try await connection.send(String(repeating: Self.request, count: requests))
                    for _ in 0..<requests {
                        let answer = try await connection.answer()
                        #expect(answer?.status == 200)
                        #expect(answer?.headers["connection"] == nil)
                    }
                }
            }
        }
    }

    @Test func cancelledReaderLeavesTheQueueAndAWaitingOneEnters() async throws {
        let limiter = ReadLimiter(limits(waiting: 1))
        var slot = try await limiter.enter("reader")
        #expect(slot != nil)
        for isPatient in [false, true] {
            try await withThrowingTaskGroup(of: Bool.self) { group in
                group.addTask {
                    // The check `isLineFull` also occupies the queue for a moment.
                    try await wait(for: "a slot") { try await limiter.enter("reader") != nil }
                    return true
                }
                try await wait(for: "a reader in the queue") { await isLineFull(of: limiter) }
                if isPatient {
                    slot = nil
                    let isIn = try await group.next()
                    #expect(isIn == true)
                } else {
                    group.cancelAll()
                    let end = await group.nextResult()
                    #expect(throws: CancellationError.self) { try end?.get() }
                    #expect(await isLineFull(of: limiter) == false)
                }
            }
        }
        #expect(try await limiter.enter("reader") != nil)
    }

    /// Checks the queue without waiting, because a cancelled task leaves it at once. All slots must be taken.
    private func isLineFull(of limiter: ReadLimiter) async -> Bool {
        await withTaskGroup(of: Bool.self) { group in
            group.cancelAll()
            group.addTask { do { return try await limiter.enter("reader") == nil } catch { return false } }
            return await group.next() ?? false
        }
    }
}

/// Reads that take too long.
@Suite(.timeLimit(.minutes(3))) struct ReadTimeoutTests {
    /// Statements of SQLite that would never end.
    private struct EndlessStatements: StorageWrapper {
        let store: SQLiteStorage
        var storage: any Storage { store }

        func statistics(
            _ queries: [StatisticsQuery]
        ) async throws -> [Result<StatisticsAnswer, TooManyGroups>] {
            try await store.read { db in
                let sql = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"
                _ = try Int.fetchOne(db, sql: sql)
                return []
            }
        }
    }

    @Test(arguments: ["/api/v1/report", "/"])
    func readThatTakesTooLongIsEndedAndNamesAWayOut(path: String) async throws {
        var limits = ServerLimits()
        (limits.maxReads, limits.readTimeout) = (1, .milliseconds(200))
        try await withServer(serverLimits: limits, storage: { EndlessStatements(store: $0) }) { client in
            for _ in 0..<5 {
                let answer = try await client.get(path)
                #expect(answer.status == .serviceUnavailable)
                #expect(answer.text.contains("ask for a shorter time"))
            }
            // The slot and the store's reader are free again.
            #expect(try await client.get("/api/v1/agents").status == .ok)
        }
    }
}

/// A store whose reports last until they are cancelled.
private struct EndlessReads: StorageWrapper {
    let storage: any Storage
    let started: AsyncStream<Void>.Continuation
    let ended: AsyncStream<Void>.Continuation

    func statistics(
        _ queries: [StatisticsQuery]
    ) async throws -> [Result<StatisticsAnswer, TooManyGroups>] {
        started.yield()
        defer { ended.yield() }
        while true { try await Task.sleep(for: .seconds(3600)) }
    }
}
