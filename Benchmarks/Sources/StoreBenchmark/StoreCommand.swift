import ArgumentParser
import Foundation
import MartletSQLiteStorage
import MartletStorage
import MartletTelemetry

/// Stores batches of many senders at once, one interval of 10 s after the other, with maintenance passes in between.
struct StoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "store", abstract: "Stores points and prints the cost of a point.")

    @Argument(help: "The store's file; made, and left there.")
    var path: String

    @Option(help: "Points of a batch.")
    var points = 50

    @Option(help: "Points in all.")
    var total = 1_000_000

    @Option(help: "Senders that wait for their answers at the same time.")
    var senders = 8

    func run() async throws {
        let clock = SteppingClock(start: 1_790_000_000)
        let storage = try SQLiteStorage(path: path, now: { clock.now })
        let batches = (0..<senders).map { SyntheticBatch(sender: $0, points: points) }
        let rounds = total / points / senders
        let (cpu, start) = (ProcessCost.cpuSeconds, ContinuousClock.now)
        for round in 1...rounds {
            clock.advance(seconds: 10)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for batch in batches {
                    group.addTask {
                        _ = try await storage.store([batch.metrics(end: clock.now)], of: batch.id(UInt64(round)))
                    }
                }
                try await group.waitForAll()
            }
            if round % 6 == 0 { try await storage.maintain() }
        }
        let seconds = ProcessCost.cpuSeconds - cpu
        let count = Double(rounds * points * senders)
        let wall = (ContinuousClock.now - start) / .seconds(1)
        print(
            String(
                format:
                    "%d points a batch, %d senders: %.2f µs of CPU a point, %.0f points a CPU-second, %.0f a second, %d MiB",
                points, senders, seconds / count * 1e6, count / seconds, count / wall, ProcessCost.peakMebibytes))
        try storage.close()
    }
}
