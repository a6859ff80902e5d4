import ArgumentParser
import Foundation
import MartletReports
import MartletSQLiteStorage
import MartletStorage
import MartletTelemetry

/// Makes a report of a store as `martlet-collector report --store` does, and prints its cost.
struct ReadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "read", abstract: "Makes a report of a store.")

    @Argument(help: "The store's file.")
    var path: String

    @Option(help: "A length of time such as 1h or 30d.")
    var since = "1h"

    @Option(help: "The time of the report, in seconds since 1970. (default: now)")
    var now: UInt64?

    @Option(help: "Times that the report is made.")
    var times = 5

    func run() async throws {
        let now = now.map { $0 * 1_000_000_000 } ?? SystemClock.now()
        for _ in 0..<times {
            let (cpu, start) = (ProcessCost.cpuSeconds, ContinuousClock.now)
            let storage = try SQLiteStorage(readingFrom: path)
            let query = try ReportParameters([("since", since)]).query(now: now)
            let report = Report(try await storage.statistics(query), for: query)
            let bytes = ReportTable.text(of: report).utf8.count
            let wall = (ContinuousClock.now - start) / .milliseconds(1)
            print(
                String(
                    format: "since %@: %.0f ms, %.0f ms of CPU, %d rows, %llu requests, %d bytes of table, peak %d MiB",
                    since, wall, (ProcessCost.cpuSeconds - cpu) * 1000, report.rows.count,
                    report.totals.measures.count, bytes, ProcessCost.peakMebibytes))
        }
    }
}
