import Fixtures
import Foundation
import MartletReports
import MartletStorage
import MartletTelemetry
import Testing

/// Reports of a Python service's calls of PostgreSQL, compared with PostgreSQL's own count of its statements
/// (pg_stat_statements).
@Suite(.enabled(if: DatabaseService.isPossible, "PostgreSQL, or psycopg for the tests' Python, is missing"))
struct DatabaseTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private var store: String { folder.path("collector.sqlite") }

    @Test(arguments: DatabaseService.Conventions.allCases)
    func callsOfEachStatementMatchPostgreSQLsCount(conventions: DatabaseService.Conventions) async throws {
        let collector = try await CollectorProcess(store: store)
        let counted = try await DatabaseService.run(.spans, conventions, collector: collector.address, in: folder)
        let expected = try calls(of: counted) { statement in
            let shape = try statement.shape()
            return [shape.operation, shape.text] + (statement.error.map { ["psycopg.errors." + $0] } ?? [])
        }
        #expect(expected["SELECT select customer from orders where id = ?"] == 40)
        #expect(expected["SELECT select cents from orders where id in (?)"] == 4)
        let report = try await report(collector, [.method, .endpoint, .error], of: counted)
        #expect(calls(in: report, of: counted) == expected)
        #expect(report.rows.allSatisfy { $0.measures.fromSpans == $0.measures.count })
        let failed = counted.statements.filter { $0.error != nil }.map(\.calls).reduce(0, +)
        #expect(report.totals.measures.failures.count == failed)
    }

    /// The instrumentation's metrics name operations, and no statements. The service sends the spans of the calls, too.
    @Test func callsOfEachOperationMatchPostgreSQLsCountInMetrics() async throws {
        let collector = try await CollectorProcess(store: store)
        let counted = try await DatabaseService.run(.metrics, .stable, collector: collector.address, in: folder)
        let expected = try calls(of: counted) { try [$0.shape().operation] + ($0.error.map { [$0] } ?? []) }
        let report = try await report(collector, [.method, .error], of: counted)
        #expect(calls(in: report, of: counted) == expected)
        #expect(report.rows.allSatisfy { $0.measures.fromSpans == nil })
    }

    /// Some statements of the service have a secret as a literal, and succeed or fail.
    @Test(.disabled(if: TestedStore.isClickHouse, "the bytes of a file are searched"))
    func literalsOfStatementsDoNotReachTheStore() async throws {
        let collector = try await CollectorProcess(store: store)
        _ = try await DatabaseService.run(.spans, .old, collector: collector.address, in: folder)
        #expect(await collector.terminate() == 0)
        let bytes = try Data(contentsOf: URL(fileURLWithPath: store))
        #expect(bytes.range(of: Data("update orders set cents".utf8)) != nil)
        #expect(bytes.range(of: Data("hunter2".utf8)) == nil)
    }

    /// Returns the report of calls once it has as many as were counted.
    private func report(
        _ collector: CollectorProcess, _ by: [MartletStorage.Dimension], of counted: DatabaseService.Counted
    ) async throws -> Report {
        let probe = Probe(folder: folder, collector: collector.address)
        let flags = ["--kind", "client"] + ([.system, .host] + by).flatMap { ["--by", $0.rawValue] }
        return try await settled {
            try await probe.report(flags)
        } until: { report in
            report.totals.measures.count == counted.statements.map(\.calls).reduce(0, +)
        }
    }

    /// Returns the number of calls by the names that the report has for their statements.
    private func calls(
        of counted: DatabaseService.Counted, by names: (DatabaseService.Statement) throws -> [String]
    ) throws -> [String: UInt64] {
        try Dictionary(counted.statements.map { (try names($0).joined(separator: " "), $0.calls) }) { $0 + $1 }
    }

    /// Returns the number of calls of each row by its names, without system and host if they are the service's PostgreSQL.
    private func calls(in report: Report, of counted: DatabaseService.Counted) -> [String: UInt64] {
        let rows = report.rows.map { row in
            let names = report.by.map { row.text(of: $0) }.filter { !$0.isEmpty }
            let isOfDatabase = names.starts(with: ["postgresql", counted.host])
            return (names.dropFirst(isOfDatabase ? 2 : 0).joined(separator: " "), row.measures.count)
        }
        return Dictionary(rows) { $0 + $1 }
    }
}
