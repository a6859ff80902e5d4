import Fixtures
import Foundation
import GRDB
import MartletStorage
import MartletTelemetry
import Testing

@testable import MartletSQLiteStorage

@Suite struct DetailsTests {
    private let folder: TemporaryFolder
    private let clock = Clock()
    private let storage: SQLiteStorage

    init() throws {
        folder = try TemporaryFolder()
        var limits = SQLiteLimits()
        limits.maxDetails = 3
        limits.detailAge = 100
        storage = try SQLiteStorage(
            path: folder.path("collector.sqlite"), limits: limits, now: { [clock] in clock.time })
    }

    private func store(_ numbers: [UInt8]) async throws {
        let batch = DetailsBatch(resource: Samples.resource(), details: numbers.map(Samples.detail))
        #expect(try await storage.store([batch], of: nil) == .stored)
    }

    /// Opens a store after the collector was off for a while, or with a lower limit.
    @Test(arguments: [(detailAge: 100, maxDetails: 100_000), (detailAge: 1_000_000, maxDetails: 0)])
    func oldDetailsAreDeletedInSteps(detailAge: UInt64, maxDetails: Int) async throws {
        var limits = SQLiteLimits()
        limits.detailAge = 1_000_000
        let path = folder.path("many.sqlite")
        let before = try SQLiteStorage(path: path, limits: limits, now: { [clock] in clock.time })
        let details = try (1...1000 as ClosedRange<UInt64>).map { number in
            var detail = Samples.detail(1)
            detail.traceID = try #require(TraceID(high: number, low: 1))
            return detail
        }
        _ = try await before.store([DetailsBatch(resource: Samples.resource(), details: details)], of: nil)
        try before.close()

        clock.time += 1000
        (limits.detailAge, limits.maxDetails) = (detailAge, maxDetails)
        let storage = try SQLiteStorage(path: path, limits: limits, now: { [clock] in clock.time })
        func count() async throws -> Int { try await storage.rows("detail WHERE received <= 1000") }
        for number in 2...4 as ClosedRange<UInt8> {
            _ = try await storage.store(
                [DetailsBatch(resource: Samples.resource(), details: [Samples.detail(number)])], of: nil)
        }
        #expect(try await count() == 1000 - 3 * 2)
        let expiry = Expiry(limits: limits, now: Int64(clock.time))
        let isThereMore = try await storage.pool.write { try expiry.step(in: $0).isThereMore }
        #expect(isThereMore)
        #expect(try await count() == 1000 - 3 * 2 - SQLiteLimits.deletedRows)
        try await storage.maintain()
        #expect(try await count() == 0)
    }

    private func storedNumbers() async throws -> [UInt8] {
        try await DatabaseQueue(path: folder.path("collector.sqlite")).read { db in
            try Data.fetchAll(db, sql: "SELECT trace_id FROM detail ORDER BY id").compactMap(\.first)
        }
    }

    @Test func oldestDetailsMakeRoomForTheNewest() async throws {
        try await store([1, 2])
        try await store([3, 4])
        #expect(try await storedNumbers() == [2, 3, 4])
        try await store([5, 6, 7, 8])
        #expect(try await storedNumbers() == [6, 7, 8])
    }

    @Test func detailsAreDeletedAfterTheirAge() async throws {
        try await store([1])
        clock.time += 100
        try await store([2])
        #expect(try await storedNumbers() == [1, 2])
        clock.time += 1
        try await store([3])
        #expect(try await storedNumbers() == [2, 3])
    }

    @Test func noisyServiceDisplacesOnlyItsOwnDetails() async throws {
        func services() async throws -> [String] {
            try await storage.requests(RequestsQuery(window: Samples.everything, limit: 10)).requests
                .map(\.resource.service).sorted()
        }
        _ = try await storage.store(
            [DetailsBatch(resource: Samples.resource("quiet"), details: [Samples.detail(1)])], of: nil)
        for number in 2...100 as ClosedRange<UInt8> { try await store([number]) }
        #expect(try await services() == ["checkout", "checkout", "quiet"])
        #expect(try await storedNumbers() == [1, 99, 100])
        _ = try await storage.store(
            [DetailsBatch(resource: Samples.resource("other"), details: [Samples.detail(101)])], of: nil)
        #expect(try await services() == ["checkout", "other", "quiet"])
    }

    /// A request of the endpoint `/files` or another, which failed or not.
    private static func request(_ number: UInt8, _ endpoint: String = "/files", failed: Bool = false) -> SpanRecord {
        var span = Samples.detail(number)
        span.request = Samples.dimensions(endpoint: endpoint, status: failed ? 503 : 200, error: failed ? "503" : nil)
        span.durationNanoseconds = 1_000_000
        return span
    }

    private func storage(keeping count: Int) throws -> SQLiteStorage {
        var limits = SQLiteLimits()
        limits.maxDetails = count
        return try SQLiteStorage(path: folder.path("\(count).sqlite"), limits: limits)
    }

    private func numbers(in storage: SQLiteStorage) async throws -> [UInt8] {
        try await storage.pool.read {
            try Data.fetchAll($0, sql: "SELECT trace_id FROM detail ORDER BY id").compactMap(\.first)
        }
    }

    private func store(_ spans: [SpanRecord], in storage: SQLiteStorage) async throws {
        for span in spans {
            _ = try await storage.store([DetailsBatch(resource: Samples.resource(), details: [span])], of: nil)
        }
    }

    @Test func busyEndpointDisplacesOnlyItsOwnDetails() async throws {
        let storage = try storage(keeping: 10)
        try await store([1, 2].map { Self.request($0, "/rare") } + (3...100).map { Self.request($0) }, in: storage)
        #expect(try await numbers(in: storage) == [1, 2] + Array(93...100))
    }

    /// A sender that does not shape its endpoints.
    @Test func namesWithoutEndHaveOneShare() async throws {
        let storage = try storage(keeping: 2000)
        let spans = try (1...1000 as ClosedRange<UInt64>).map { number in
            var span = Self.request(1, "/\(number)")
            span.traceID = try #require(TraceID(high: number, low: 1))
            return span
        }
        for part in [spans[..<300], spans[300...]] {
            _ = try await storage.store([DetailsBatch(resource: Samples.resource(), details: Array(part))], of: nil)
        }
        #expect(try await storage.rows("endpoint_share") == DetailOwner.maxShares + 1)
        #expect(try await storage.rows("detail WHERE owner = ''") == 1000 - DetailOwner.maxShares)
    }

    @Test func failuresAreKeptLongest() async throws {
        let storage = try storage(keeping: 10)
        try await store((1...100).map { Self.request($0, failed: $0 == 1 || $0 == 50) }, in: storage)
        #expect(try await numbers(in: storage) == [1, 50] + Array(93...100))
    }

    @Test func slowRequestsAreKeptLongest() async throws {
        let storage = try storage(keeping: 10)
        var slow = Self.request(1)
        slow.durationNanoseconds = DetailOwner.slow + 1
        try await store([slow] + (2...100).map { Self.request($0) }, in: storage)
        #expect(try await numbers(in: storage) == [1] + Array(92...100))
    }

    /// An outage fills three quarters at most.
    @Test func manyFailuresLeaveOthers() async throws {
        let storage = try storage(keeping: 12)
        try await store(
            (1...20).map { Self.request($0) } + (21...100).map { Self.request($0, failed: true) }, in: storage)
        #expect(try await numbers(in: storage) == [18, 19, 20] + Array(92...100))
    }

    /// The other spans of a failed request arrive before it and after it.
    @Test func wholeTraceOfAFailureIsKept() async throws {
        let storage = try storage(keeping: 10)
        func span(_ id: UInt64, failed: Bool = false) throws -> SpanRecord {
            var span = Self.request(1, failed: failed)
            span.spanID = try #require(SpanID(id))
            return span
        }
        try await store([span(1), span(2, failed: true), span(3)] + (2...100).map { Self.request($0) }, in: storage)
        #expect(try await numbers(in: storage) == [1, 1, 1] + Array(94...100))
        let shares = try await storage.pool.read {
            try Row.fetchAll($0, sql: "SELECT notable, count FROM endpoint_share").map { [$0[0] as Int, $0[1]] }
        }
        #expect(shares == [[0, 7], [1, 3]])
    }

    /// The service with the most bytes loses its oldest details, however few it has.
    @Test func detailsAreBoundedInBytes() async throws {
        var limits = SQLiteLimits()
        limits.maxDetailsBytes = 100_000
        let storage = try SQLiteStorage(path: folder.path("bytes.sqlite"), limits: limits)
        func store(_ service: String, _ numbers: ClosedRange<UInt8>, bytes: Int) async throws {
            for number in numbers {
                var detail = Samples.detail(number)
                detail.attributes["body"] = .string(String(repeating: "x", count: bytes))
                _ = try await storage.store(
                    [DetailsBatch(resource: Samples.resource(service), details: [detail])], of: nil)
            }
        }
        try await store("small", 1...50, bytes: 10)
        try await store("large", 51...100, bytes: 9000)
        let (kept, bytes) = try await storage.pool.read { db in
            (
                try String.fetchAll(db, sql: "SELECT service || ' ' || count FROM detail_share"),
                try Int.fetchOne(db, sql: "SELECT sum(bytes) FROM detail_share")
            )
        }
        #expect(kept.contains("small 50"))
        #expect(try #require(bytes) <= 100_000)
        #expect(try #require(bytes) > 90_000 - 9500)
        #expect(try await storage.state().crowdedDetails > 40)
        let first = try await storage.pool.read { try Data.fetchOne($0, sql: "SELECT max(trace_id) FROM detail") }
        #expect(first?.first == 100)
    }

    @Test func detailCountOfEachServiceIsCorrectAfterEveryDeletion() async throws {
        func shares() async throws -> [String] {
            try await storage.pool.read {
                try String.fetchAll($0, sql: "SELECT service || ' ' || count FROM detail_share")
            }
        }
        try await store([1, 2, 3, 4])
        #expect(try await shares() == ["checkout 3"])
        clock.time += 101
        try await store([5])
        try await storage.maintain()
        #expect(try await shares() == ["checkout 1"])
        _ = try await storage.removeDetails()
        #expect(try await shares() == [])
    }

    /// Swift treats the two spellings as equal. The store distinguishes them.
    @Test func servicesWithLookalikeNamesAreCountedSeparately() async throws {
        let spellings = ["caf\u{e9}", "cafe\u{301}"]
        for number in 1...20 as ClosedRange<UInt8> {
            let service = spellings[Int(number) % 2]
            _ = try await storage.store(
                [DetailsBatch(resource: Samples.resource(service), details: [Samples.detail(number)])], of: nil)
        }
        #expect(try await storedNumbers().count == 3)
        _ = try await storage.removeDetails()
        try await store([21, 22, 23, 24])
        #expect(try await storedNumbers() == [22, 23, 24])
    }

    /// A sender without numbered batches may resend a span, so each new span is looked up. Any other index would go through all
    /// spans of the sender.
    @Test func knownSpanIsLookedUpByItsTrace() async throws {
        let plan = try await storage.pool.write { db in
            var plan: [String] = []
            db.trace { if case .statement(let statement) = $0 { plan.append(statement.sql) } }
            _ = try DetailRows.contains(Samples.detail(1), resource: 1, in: db)
            db.trace(options: [])
            let lookUp = try #require(plan.first { $0.contains("EXISTS") })
            let arguments: StatementArguments = [Data(), Data(), 1, ""]
            return try Row.fetchAll(db, sql: "EXPLAIN QUERY PLAN " + lookUp, arguments: arguments).map {
                $0["detail"] as String
            }
        }
        #expect(plan.contains { $0.contains("detail_by_trace (trace_id=? AND span_id=?)") })
    }
}
