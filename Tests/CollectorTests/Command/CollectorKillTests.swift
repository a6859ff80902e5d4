import Fixtures
import Foundation
import MartletSQLiteStorage
import MartletStorage
import MartletTelemetry
import Testing

/// A collector that is killed repeatedly while several agents send to it.
@Suite struct CollectorKillTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private var store: String { folder.path("collector.sqlite") }

    /// Kills the collector 12 times, or as often as `COLLECTOR_KILLS` says. The seed decides the moments, as far as timing is
    /// repeatable.
    @Test func everyBatchCountsOnceAlthoughTheCollectorIsKilled() async throws {
        let kills = ProcessInfo.processInfo.environment["COLLECTOR_KILLS"].flatMap(Int.init) ?? 12
        let seed = SeededGenerator.seedOfFaults
        var numbers = SeededGenerator(seed: seed)
        var senders = (1...4).map { Sender(instance: "i-\($0)") }
        for _ in 0..<kills {
            senders = try await send(senders, untilKilledAfter: Int.random(in: 1...80, using: &numbers), &numbers)
            try await expectAcknowledged(of: senders, seed)
        }

        let collector = try await CollectorProcess(store: store)
        for index in senders.indices { #expect(try await senders[index].sendAgain(to: collector)) }
        try await expectAcknowledged(of: senders, seed)
        let reader = try SQLiteStorage(readingFrom: store)
        let answer = try await reader.statistics(StatisticsQuery(window: Samples.everything, by: []))
        #expect(answer.groups.map(\.count) == [senders.reduce(0) { $0 + $1.acknowledgedRequests }])
        #expect(answer.account.completeness == 1)
        #expect(try await reader.agents().allSatisfy { $0.gaps == BatchGaps(missing: 0, overlapping: 0) })
    }

    /// Kills the collector up to 3 ms after `acknowledged` batches were acknowledged, while it stores other batches.
    private func send(
        _ senders: [Sender], untilKilledAfter acknowledged: Int, _ numbers: inout SeededGenerator
    ) async throws -> [Sender] {
        let collector = try await CollectorProcess(store: store)
        let moment = Duration.microseconds(Int.random(in: 0...3000, using: &numbers))
        let (acknowledgements, acknowledge) = AsyncStream.makeStream(of: Void.self)
        return try await withThrowingTaskGroup(of: Sender.self) { group in
            for sender in senders {
                group.addTask {
                    var sender = sender
                    while try await sender.sendNext(to: collector) { acknowledge.yield() }
                    return sender
                }
            }
            var left = acknowledged
            for await _ in acknowledgements {
                left -= 1
                if left == 0 { break }
            }
            try await Task.sleep(for: moment)
            await collector.kill()
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }

    /// Checks that the store has each sender's acknowledged batches, and at most one more batch, whose outcome is unknown.
    private func expectAcknowledged(of senders: [Sender], _ seed: UInt64) async throws {
        let reader = try SQLiteStorage(readingFrom: store)
        let query = StatisticsQuery(window: Samples.everything, by: [.endpoint])
        let stored = try await reader.statistics(query).groups.map { ($0.values[0] ?? "", $0.count) }
        for sender in senders {
            let own = stored.filter { $0.0.hasPrefix(sender.endpoint("")) }
            var found = Dictionary(uniqueKeysWithValues: own)
            let unknown = found.removeValue(forKey: sender.endpoint(sender.next))
            #expect(unknown == nil || unknown == Sender.requests(sender.next), "seed \(seed)")
            #expect(found == sender.acknowledged, "seed \(seed), \(sender.instance)")
        }
    }
}

/// An agent that sends its batches in order, each until it is acknowledged.
private struct Sender {
    let instance: String
    private(set) var next: UInt64 = 1

    init(instance: String) {
        self.instance = instance
    }

    /// Hours do not have the instance, so the endpoint has it.
    func endpoint(_ batch: some CustomStringConvertible) -> String { "/\(instance)/\(batch)" }

    static func requests(_ sequence: UInt64) -> UInt64 { 1 + sequence % 3 }

    /// The acknowledged requests by endpoint. Each batch has a different endpoint.
    var acknowledged: [String: UInt64] {
        Dictionary(uniqueKeysWithValues: (1..<next).map { (endpoint($0), Self.requests($0)) })
    }

    var acknowledgedRequests: UInt64 { acknowledged.values.reduce(0, +) }

    /// Sends the next batch, and returns `false` if no answer came.
    mutating func sendNext(to collector: CollectorProcess) async throws -> Bool {
        guard try await send(next, to: collector) else { return false }
        next += 1
        return true
    }

    /// Sends up to four acknowledged batches again, then the batch whose outcome is unknown.
    mutating func sendAgain(to collector: CollectorProcess) async throws -> Bool {
        for sequence in max(5, next) - 4..<next where try await !send(sequence, to: collector) { return false }
        return try await sendNext(to: collector)
    }

    private func send(_ sequence: UInt64, to collector: CollectorProcess) async throws -> Bool {
        let body = try batch(sequence).otlp()
        let id = BatchID(instance: instance, sequence: sequence, signal: .metrics)
        return (try? await collector.post(body, batch: id.description)) == 200
    }

    private func batch(_ sequence: UInt64) -> MetricsBatch {
        let requests = Self.requests(sequence)
        return MetricsBatch(
            resource: Samples.resource(instance: instance), start: Samples.time(sequence - 1),
            end: Samples.time(sequence),
            series: [
                Samples.dimensions(endpoint: endpoint(sequence)):
                    Samples.statistics(Array(repeating: 0.1, count: Int(requests)))
            ], ledger: Ledger(captured: (1...sequence).reduce(0) { $0 + Self.requests($1) }, waiting: requests))
    }
}
