import Fixtures
import Foundation
import GRDB
import MartletStorage
import MartletTelemetry
import Synchronization
import Testing

@testable import MartletSQLiteStorage

/// How SQLite finds the rows of each statement. Storing becomes slower with each row if a statement scans a growing table, or uses
/// an index that selects little. No other test would notice.
@Suite struct QueryPlanTests {
    private let folder: TemporaryFolder
    private let clock = Clock()
    private static let hour: UInt64 = 3600

    init() throws {
        folder = try TemporaryFolder()
        clock.time = Samples.time(0)
    }

    private var path: String { folder.path("collector.sqlite") }

    /// A scan that is allowed for a statement.
    private struct AllowedScan: Hashable {
        let table: String
        /// The beginning of the statement.
        let statement: String
        let reason: String

        init(_ table: String, _ statement: String, because reason: String) {
            (self.table, self.statement, self.reason) = (table, statement, reason)
        }
    }

    private static let allowed = [
        AllowedScan("server", "SELECT DISTINCT client.service", because: "it is a subquery with a limit"),
        AllowedScan("trace", "SELECT caller, called,", because: "it is a subquery with a limit"),
        AllowedScan("pair", "SELECT caller, called,", because: "it is a subquery with a limit"),
        AllowedScan("observed_call", "DELETE FROM observed_call", because: "a limit bounds its rows"),
        AllowedScan("resource", "SELECT * FROM detail WHERE", because: "a search looks at all senders"),
        AllowedScan("resource", "SELECT count(*) FROM detail WHERE", because: "a search looks at all senders"),
        AllowedScan("batch_stream", "SELECT id FROM batch_stream", because: "a reader looks once an hour"),
        AllowedScan(
            "cumulative_series", "SELECT count(*)", because: "a limit bounds the streams, and only new ones ask"),
        AllowedScan(
            "cumulative_series", "SELECT resource_id, start_time, min", because: "it is run once a minute at most"),
        AllowedScan("detail_share", "SELECT sum(count) FROM", because: "the table has a row for each service"),
        AllowedScan("detail_share", "SELECT sum(bytes) FROM", because: "the table has a row for each service"),
        AllowedScan(
            "detail_share", "SELECT service FROM detail_share ORDER BY count",
            because: "the table has a row for each service"),
        AllowedScan("detail_share", "SELECT bytes FROM detail_share", because: "the table has a row for each service"),
    ]

    @Test func noStatementScansAGrowingTable() async throws {
        var limits = SQLiteLimits()
        (limits.maxDetails, limits.maxCumulativeSeries, limits.cumulativeSilence) = (20, 5, 0)
        (limits.maxStoreBytes, limits.clockPatience) = (270_600, .max)
        let storage = try SQLiteStorage(path: path, limits: limits, now: { [clock] in clock.time })
        let statements = Statements()
        try await storage.pool.write { $0.trace { statements.add($0) } }
        try await storage.pool.read { $0.trace { statements.add($0) } }
        try await write(to: storage)
        try await ask(storage)
        _ = try await storage.removeDetails()
        let all = statements.all
        #expect(all.count > 60)
        try storage.close()
        let file = try DatabaseQueue(path: path)
        var unused = Set(Self.allowed)
        for statement in all {
            for table in try await file.read({ try Self.scannedTables(by: statement, in: $0) }) {
                let allowed = Self.allowed.first { $0.table == table && statement.hasPrefix($0.statement) }
                if let allowed { unused.remove(allowed) } else { Issue.record("\(table) is scanned: \(statement)") }
            }
        }
        #expect(unused.isEmpty)
    }

    /// Stores all kinds of data over ten days, with maintenance.
    private func write(to storage: SQLiteStorage) async throws {
        for step in 0..<40 as Range<UInt64> {
            let end = step * 6 * Self.hour + 10
            clock.time = Samples.time(end)
            let batch = BatchID(instance: "i-1", sequence: step + 1, signal: .metrics)
            _ = try await storage.store([Samples.metrics(end: end)], of: step % 2 == 0 ? batch : nil)
            let details = (1...8 as ClosedRange<UInt8>).map { number in
                var detail = Samples.detail(number)
                (detail.traceID, detail.start) = (
                    TraceID(high: step + 1, low: UInt64(number)) ?? detail.traceID, clock.time
                )
                return detail
            }
            let resource = TelemetryResource(service: "prices", instance: "p-1", agent: "opentelemetry 1.38")
            _ = try await storage.store([DetailsBatch(resource: resource, details: details)], of: nil)
            _ = try await storage.store([DetailsBatch(resource: Samples.resource(), details: details)], of: nil)
            try await CallSpans.call(UInt8(step + 1), at: end, in: storage)
            try await OtherMetrics.send(
                [OtherMetrics.histogram([OtherMetrics.point([0.2], start: end - 10, end: end)])],
                instance: "process-\(step)", to: storage)
            var process = Samples.metrics(requests: 0, end: end)
            process.process = [ProcessPoint(start: clock.time - 10, end: clock.time, .cpuUser, 1)]
            process.processTotals = [ProcessTotal(.cpuSystem, start: step + 1, end: clock.time, value: 1)]
            process.ends = [ReportedEnd(instance: "i-0", time: clock.time, cause: .killed)]
            _ = try await storage.store([process], of: nil)
            if step % 8 == 3 { try await storage.maintain() }
        }
    }

    /// Runs every query that the store supports.
    private func ask(_ storage: SQLiteStorage) async throws {
        let window = TimeWindow(from: Samples.time(0), to: clock.time)
        let filters = [
            RequestFilter(), RequestFilter([.service: ["checkout"], .endpoint: ["/users/{id}"], .status: ["5xx"]]),
        ]
        for filter in filters {
            for limit in [nil, 1] {
                _ = try await storage.statistics(
                    StatisticsQuery(
                        window: window, filter: filter, by: Dimension.allCases, limit: limit,
                        step: 86_400_000_000_000))
            }
            _ = try await storage.account(in: window, filter)
            _ = try await storage.calls(in: window, filter, limit: 100)
            _ = try await storage.processEnds(in: window, filter, limit: 100)
            for key in RequestsQuery.Order.Key.allCases {
                var query = RequestsQuery(window: window, filter: filter, order: .init(key), limit: 2)
                (query.onlyFailed, query.slowerThan, query.fasterThan, query.text) = (true, 1, 2, "x")
                _ = try await storage.requests(query)
                let page = try await storage.requests(RequestsQuery(window: window, order: .init(key), limit: 2))
                query.before = page.requests.last?.id
                _ = try await storage.requests(query)
            }
        }
        let kept = try await storage.requests(RequestsQuery(window: window, limit: 1)).requests.first
        let request = try #require(kept)
        _ = try await storage.request(request.id)
        _ = try await storage.spans(ofTrace: request.span.traceID, limit: 10)
        for dimension in Dimension.allCases {
            _ = try await storage.values(ValuesQuery(dimension, window: window, limit: 10))
        }
        for filter in filters {
            _ = try await storage.processes(ProcessQuery(window: window, filter: filter, step: 3_600_000_000_000))
            _ = try await storage.histories(in: window, filter)
        }
        _ = try await storage.agents(seenSince: 0, limit: 10)
        _ = try await storage.state()
    }

    private static func scannedTables(by statement: String, in db: Database) throws -> [String] {
        let explanation = try db.makeStatement(sql: "EXPLAIN QUERY PLAN " + statement)
        // The plan is the same for all values.
        explanation.setUncheckedArguments(StatementArguments())
        let plan = try Row.fetchAll(explanation).map { $0["detail"] as String }
        // A virtual table here is a list in the arguments.
        return plan.filter { $0.hasPrefix("SCAN ") && !$0.contains("VIRTUAL TABLE") && $0 != "SCAN CONSTANT ROW" }
            .compactMap { $0.split(separator: " ").dropFirst().first.map(String.init) }
    }
}

/// The distinct statements that ran, without those of SQLite itself and of the schema. Safe to use from any thread.
private final class Statements: Sendable {
    private let found = Mutex<Set<String>>([])

    var all: [String] { found.withLock { $0.sorted() } }

    func add(_ event: Database.TraceEvent) {
        guard case .statement(let statement) = event else { return }
        let sql = statement.sql
        guard ["SELECT", "INSERT", "UPDATE", "DELETE", "WITH"].contains(where: sql.hasPrefix), !sql.contains("sqlite_")
        else { return }
        found.withLock { _ = $0.insert(sql) }
    }
}
