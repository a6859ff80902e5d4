import ArgumentParser
import Fixtures
import Foundation
import MartletIntake
import MartletReports
import MartletServer
import MartletStorage
import Testing

@testable import MartletSQLiteStorage
@testable import martlet_collector

/// The figures of documents, compared with the code.
@Suite struct DocumentedLimitsTests {
    private let document = "docs/internals/collector.md"
    private let server = ServerLimits()
    private let store = SQLiteLimits()
    private let intake = IntakeLimits()

    private func mebibytes(_ bytes: Int) -> String { "\(bytes >> 20) MiB" }

    private func grouped(_ count: Int) -> String { FigureText.grouped(UInt64(count)) }

    @Test func eachDocumentedLimitEqualsTheCode() throws {
        let (reads, seconds) = (server.maxWaitingReads, { (limit: Duration) in "\(limit.components.seconds) s" })
        let since = AgentsParameter.defaultSince.replacing("h", with: " h")
        // The beginnings of both cells.
        let expected = [
            ("connections at a time", "\(grouped(server.maxConnections)) (--max-connections)"),
            (
                "of these, connections that have shown no token",
                "\(grouped(server.maxUnauthenticatedConnections)), or half of all"
            ),
            ("header fields", "\(server.maxHeaderFields), and \(server.maxHeaderBytes >> 10) KiB together"),
            ("a silent connection", "closed after \(seconds(server.idleTimeout))"),
            ("from the head", "\(seconds(server.bodyTimeout)); then the connection is closed"),
            (
                "an answer that its client does not read",
                "\(seconds(server.answerTimeout)); then the connection is closed"
            ),
            ("reports, maps and lists", "\(server.maxReads). Another \(reads) of each kind wait"),
            ("reading the store for an answer", "\(seconds(server.readTimeout));"),
            ("a report, a list of agents, or the wait", "ends"),
            ("parameters", "64, of 1 KiB each"),
            ("length of the window", "800 days"),
            ("memory of a report's distributions", mebibytes(store.maxSketchBytes)),
            ("figures of a report with top", "those of the rows that it shows"),
            ("points that such a report keeps", mebibytes(ReadChunks.maxBytes)),
            ("rows of a report", grouped(store.maxGroups)),
            ("rows from which top takes", grouped(store.maxRankedGroups)),
            (
                "senders that agents lists",
                "the \(grouped(AgentsReport.maxAgents)) seen most recently within since (\(since) by"
            ),
        ]
        let rows = try Repository.table(after: "## Limits", in: document)
        #expect(rows.count == expected.count)
        for (row, expected) in zip(rows, expected) {
            #expect(row[0].hasPrefix(expected.0) && row[1].hasPrefix(expected.1), "\(row) is not \(expected)")
        }
        let statuses = try Repository.table(after: "In JSON, ids are", in: "docs/internals/intake.md")
        let large = try #require(statuses.first { $0[0] == "413" })[1]
        #expect(large.contains("more than \(mebibytes(intake.maxBodyBytes)), before or after inflating"))
        #expect(large.contains("more than \(mebibytes(intake.maxMessageBytes)) of memory"))
        let memory = "All requests together have \(mebibytes(server.maxIngestBytes)),"
        #expect(try Repository.text(document).contains(memory))
    }

    @Test func pageForOperatorsHasTheSameLimits() throws {
        let seconds = { (limit: Duration) in "\(limit.components.seconds) s" }
        let expected = [
            "\(grouped(server.maxConnections)) (--max-connections)",
            "\(mebibytes(intake.maxBodyBytes)), before and after inflating; \(mebibytes(intake.maxMessageBytes)) of memory",
            "\(mebibytes(server.maxIngestBytes)) of memory",
            "\(seconds(server.idleTimeout)); \(seconds(server.bodyTimeout)); \(seconds(server.answerTimeout))",
            "\(server.maxReads), and \(server.maxWaitingReads) waiting", "\(seconds(server.readTimeout)); then 503",
            "\(grouped(store.maxGroups)) rows, or with top the first of \(grouped(store.maxRankedGroups))",
            mebibytes(store.maxSketchBytes), "the \(grouped(AgentsReport.maxAgents)) seen last",
        ]
        let rows = try Repository.table(after: "## Limits", in: "docs/operations.md").map { $0[1] }
        #expect(rows.count == expected.count)
        for (row, expected) in zip(rows, expected) { #expect(row.hasPrefix(expected)) }
    }

    /// The two rows of the limits table whose limit the code does not name.
    @Test func reportTakes64ParametersOf1KiBAndAWindowOf800Days() throws {
        let name = ReportParameter.service.rawValue
        _ = try Parameters<ReportParameter>([(name, String(repeating: "x", count: 1024))])
        #expect(throws: ParameterError("\(name) has more than 1024 bytes")) {
            try Parameters<ReportParameter>([(name, String(repeating: "x", count: 1025))])
        }
        let many = ReportParameter.allCases.filter(\.isRepeatable).flatMap {
            Array(repeating: ($0.rawValue, "x"), count: 16)
        }
        _ = try Parameters<ReportParameter>(many.prefix(64))
        #expect(throws: ParameterError("there are more than 64 parameters")) {
            try Parameters<ReportParameter>(many.prefix(65))
        }
        let now = Samples.time(0)
        _ = try Parameters<ReportParameter>([("since", "800d")]).window(now: now)
        #expect(throws: ParameterError("since and until must be at most 800 days apart")) {
            try Parameters<ReportParameter>([("since", "801d")]).window(now: now)
        }
    }

    @Test func storeFlagsHaveTheSameDefaultInDocumentHelpAndCode() async throws {
        let rows = try Repository.table(after: "martlet-collector serve --retention", in: "docs/operations.md")
        let defaults = Dictionary(uniqueKeysWithValues: rows.map { (String($0[0].prefix { $0 != "," }), $0[1]) })
        let flags = ["retention", "details", "max-details", "max-details-bytes", "max-store", "max-cumulative-streams"]
        #expect(Set(defaults.keys) == Set(flags.map { "--" + $0 }))
        let documented = try Serve.parse(defaults.map { "\($0)=\($1)" })
        #expect(try ServeSettings(documented).limits == store)
        #expect(try ServeSettings(Serve.parse([])).limits == store)
        let output = try await ChildProcess(.martletCollector, ["serve", "--help"]).finish().output
        let help = output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        let names = CollectorEnvironment.flags(of: Serve()).map(\.name)
        #expect(names.contains("max-store") && names.allSatisfy { help.contains(" --\($0) ") })
        for cells in rows.map({ $0[0].split(separator: ", ") }) {
            #expect(cells.last == Substring(CollectorEnvironment.variable(cells[0].dropFirst(2))))
        }
        for (flag, value) in defaults {
            let text = try #require(help.range(of: flag + " <")).upperBound
            let start = try #require(help[text...].range(of: "(default: ")).upperBound
            #expect(help[start...].hasPrefix(value + ")"), "\(flag)")
        }
    }
}
