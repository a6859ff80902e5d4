import ArgumentParser
import Foundation
import MartletSQLiteStorage
import MartletStorage
import MartletTelemetry
import Synchronization

/// Measures how long a batch waits to be stored while a maintenance pass rolls up several hours, and how long without one.
struct PassCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pass", abstract: "Prints the time that storing takes while older points are rolled up.")

    @Argument(help: "The store's file; made, and left there.")
    var path: String

    @Option var services = 200
    @Option(help: "Series of a service.") var series = 50
    @Option(help: "Hours that the pass has to roll up.") var hours = 3

    func run() async throws {
        let clock = SteppingClock(start: 1_789_999_200)
        let storage = try SQLiteStorage(path: path, now: { clock.now })
        try await fill(storage, from: 1_789_999_200)
        clock.advance(seconds: UInt64(hours) * 3600 + 600)
        let batch = SyntheticBatch(sender: 0, points: 50)
        report("idle", try await waits(of: batch, from: 1, in: storage, clock) { $0 < 500 })
        let isOver = Flag()
        async let pass: Void = {
            try await storage.maintain()
            isOver.set()
        }()
        let waits = try await waits(of: batch, from: 1001, in: storage, clock) { _ in
            !isOver.isSet
        }
        try await pass
        report("while it is rolled up", waits)
        try storage.close()
    }

    private func fill(_ storage: SQLiteStorage, from start: UInt64) async throws {
        let traffic = (0..<services).map { SyntheticTraffic(service: $0, series: series) }
        for end in stride(from: start + 10, through: start + UInt64(hours) * 3600, by: 10) {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for one in traffic {
                    group.addTask { _ = try await storage.store([one.metrics(end: end, seconds: 10)], of: nil) }
                }
                try await group.waitForAll()
            }
        }
    }

    /// Stores one batch, waits 5 ms, and repeats this while `isWanted`. Returns the time that each batch took in milliseconds,
    /// in ascending order.
    private func waits(
        of batch: SyntheticBatch, from sequence: UInt64, in storage: SQLiteStorage, _ clock: SteppingClock,
        while isWanted: (Int) -> Bool
    ) async throws -> [Double] {
        var waits: [Double] = []
        while isWanted(waits.count) {
            let start = ContinuousClock.now
            _ = try await storage.store(
                [batch.metrics(end: clock.now)], of: batch.id(sequence + UInt64(waits.count)))
            waits.append((ContinuousClock.now - start) / .milliseconds(1))
            try await Task.sleep(for: .milliseconds(5))
        }
        return waits.sorted()
    }

    private func report(_ what: String, _ waits: [Double]) {
        guard let last = waits.last else { return }
        print(
            String(
                format: "%@: %d batches, median %.1f ms, 99 %% %.1f ms, longest %.1f ms", what, waits.count,
                waits[waits.count / 2], waits[waits.count * 99 / 100], last))
    }
}

private final class Flag: Sendable {
    private let state = Atomic(false)

    var isSet: Bool { state.load(ordering: .relaxed) }

    func set() { state.store(true, ordering: .relaxed) }
}
