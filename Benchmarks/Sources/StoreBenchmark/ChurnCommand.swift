import ArgumentParser
import Foundation
import MartletSQLiteStorage
import MartletStorage
import MartletTelemetry

/// Stores a simulated year of processes that come and go, in a store whose limit is too small for it, and prints its size.
struct ChurnCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "churn", abstract: "Prints the size of a store through a year of short processes.")

    @Argument(help: "The store's file; made, and left there.")
    var path: String

    @Option var days: UInt64 = 365
    @Option(help: "Processes that start each day. Each lives for an hour.") var processes = 1000
    @Option(help: "Services. Each has a new version every week.") var services = 20
    @Option(help: "Series of a service.") var series = 10
    @Option(help: "The limit of the store, in MiB.") var limit: UInt64 = 32

    private static let start: UInt64 = 1_789_948_800
    private static let day: UInt64 = 86_400
    private static let quarter: UInt64 = 900

    func run() async throws {
        let clock = SteppingClock(start: Self.start)
        var limits = SQLiteLimits()
        limits.maxStoreBytes = limit << 20
        (limits.clockPatience, limits.maxWaitingBatches) = (.max, processes)
        let storage = try SQLiteStorage(path: path, limits: limits, now: { clock.now })
        var largest: UInt64 = 0
        for quarter in 1...days * Self.day / Self.quarter {
            clock.advance(seconds: Self.quarter)
            try await store(quarter, in: storage)
            try await storage.maintain()
            largest = max(largest, try await storage.state().bytesInUse)
            if (quarter * Self.quarter).isMultiple(of: 30 * Self.day) {
                report(day: quarter * Self.quarter / Self.day, try await storage.state(), largest: largest)
                largest = 0
            }
        }
        try await reportMinutes(in: storage, until: clock.now)
        try storage.close()
    }

    /// Stores a batch of each process that lives in a quarter of an hour.
    private func store(_ quarter: UInt64, in storage: SQLiteStorage) async throws {
        let perQuarter = Double(processes) * Double(Self.quarter) / Double(Self.day)
        let first = Int(Double(quarter >= 4 ? quarter - 4 : 0) * perQuarter)
        try await withThrowingTaskGroup { group in
            for process in first..<Int(Double(quarter) * perQuarter) {
                group.addTask { _ = try await storage.store([metrics(of: process, in: quarter)], of: nil) }
            }
            try await group.waitForAll()
        }
    }

    private func metrics(of process: Int, in quarter: UInt64) -> InstanceMetrics {
        let end = Self.start + quarter * Self.quarter - UInt64(process % 60) * 10
        let traffic = SyntheticTraffic(service: process % services, series: series, process: process)
        var metrics = traffic.metrics(end: end, seconds: 10)
        metrics.resource.version = "1.\(quarter * Self.quarter / Self.day / 7)"
        metrics.resource.agent = "martlet 0.1.0"
        metrics.ledger = LedgerReading(time: end * 1_000_000_000, captured: metrics.requests, age: 1_000_000_000)
        var process = ProcessPoint(
            start: (end - 10) * 1_000_000_000, end: end * 1_000_000_000, .cpuUser, 100_000_000)
        process.statistics.gauges[.residentMemory] = .init(50 << 20)
        metrics.process = [process]
        return metrics
    }

    private func report(day: UInt64, _ state: StorageState, largest: UInt64) {
        print(
            String(
                format: "day %llu: %.2f of the limit at most since the last line, %.2f now; %llu rows of hours shed",
                day, Double(largest) / Double(state.maxBytes), Double(state.bytesInUse) / Double(state.maxBytes),
                state.shedHours))
    }

    /// Prints how many services have minutes of a day that is nearly a week old.
    private func reportMinutes(in storage: SQLiteStorage, until now: UnixNanoseconds) async throws {
        let minute: UInt64 = 60_000_000_000
        let from = now - (6 * 24 * 60 + 23 * 60 - 7) * minute
        let window = TimeWindow(from: from, to: from + 24 * 60 * minute)
        let answer = try await storage.statistics(StatisticsQuery(window: window, by: [.service]))
        print("minutes of \(answer.groups.count) of \(services) services are kept: \(answer.window == window)")
    }
}
