import ArgumentParser
import Foundation
import MartletSQLiteStorage
import MartletStorage
import MartletTelemetry

/// Makes ten thousand series as a store has them after thirty days: hours for all thirty days, minutes for a week, and
/// intervals of 10 s for six hours. It delivers hours and minutes in halves, so that the store itself rolls them up.
struct GenerateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "generate", abstract: "Makes a store to read from.")

    @Argument(help: "The store's file.")
    var path: String

    @Option var services = 50
    @Option(help: "Series of a service.") var series = 200
    @Option(help: "Processes of a service, each with all of its series.") var processes = 1
    @Option var days = 30
    @Option(help: "Days of them that are kept by the minute.") var minuteDays = 7
    @Option(help: "Hours of intervals as they arrive.") var fineHours = 6
    @Option(help: "The length of these intervals, in seconds.") var interval = 10

    func run() async throws {
        let now = SystemClock.now() / 3_600_000_000_000 * 3600
        // All batches of an interval are stored at once.
        var limits = SQLiteLimits()
        (limits.maxWaitingBatches, limits.maxWaitingBytes) = (services * processes, 1 << 30)
        let storage = try SQLiteStorage(path: path, limits: limits)
        let traffic = (0..<services).flatMap { service in
            (0..<processes).map { SyntheticTraffic(service: service, series: series, process: $0) }
        }
        let hour: UInt64 = 3600
        let firstFine = now - UInt64(fineHours) * hour
        let firstMinutes = min(now - UInt64(minuteDays) * 24 * hour, firstFine)
        let first = min(now - UInt64(days) * 24 * hour, firstMinutes)
        try await store(traffic, in: storage, from: first, to: firstMinutes, step: hour / 2)
        try await store(traffic, in: storage, from: firstMinutes, to: firstFine, step: 30)
        try await store(traffic, in: storage, from: firstFine, to: now, step: UInt64(interval))
        try storage.close()
        // A maintenance pass after the start makes the summaries of all hours that are kept.
        let restarted = try SQLiteStorage(path: path)
        try await restarted.maintain()
        try restarted.close()
        print("\(services * series) series, \(days) days, peak \(ProcessCost.peakMebibytes) MiB")
    }

    private func store(
        _ traffic: [SyntheticTraffic], in storage: SQLiteStorage, from: UInt64, to: UInt64, step: UInt64
    ) async throws {
        var points = 0
        for end in stride(from: from + step, through: to, by: Int(step)) {
            try await withThrowingTaskGroup(of: Int.self) { group in
                for one in traffic {
                    group.addTask {
                        let metrics = one.metrics(end: end, seconds: step)
                        _ = try await storage.store([metrics], of: nil)
                        return metrics.points.count
                    }
                }
                points += try await group.reduce(0, +)
            }
            // A serving collector also rolls up between batches.
            if (end / step).isMultiple(of: 60) { try await storage.maintain() }
        }
        print("\(points) points of \(step) s")
    }
}
