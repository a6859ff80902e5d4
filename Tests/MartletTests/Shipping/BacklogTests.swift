import Fixtures
import Foundation
import FoundationNetworking
import MartletTelemetry
import Testing

@testable import Martlet

extension AgentTests {
    /// Work that becomes due while a long backlog is delivered to a slow collector.
    @Suite struct BacklogTests {
        private static let batches = 40

        /// Runs `body` while an agent delivers the batches of a dead instance, before the end of its first interval.
        private func withBacklog(
            _ change: (inout MartletConfiguration) -> Void,
            _ body: @escaping @Sendable (MartletAgent, StubCollector, URL) async throws -> Void
        ) async throws {
            let directory = try TemporaryFolder()
            var outbox = try Outbox.create(instance: "dead", in: directory.url.appendingPathComponent("shop"))
            for sequence in 1...UInt64(Self.batches) {
                try outbox.store(
                    [], as: BatchFile(sequence: sequence, signal: .metrics, requests: 1, isCompressed: false, body: []))
            }
            outbox.close()
            try await withAgent({
                $0.bufferDirectory = directory.url
                $0.serviceName = "shop"
                $0.sampleRate = 0
                change(&$0)
            }) { agent, collector, base in
                collector.delay.store(100, ordering: .relaxed)
                async let flush: Void = agent.flush()
                await collector.awaitPosts(1)
                try await body(agent, collector, base)
                collector.delay.store(0, ordering: .relaxed)
                await flush
            }
        }

        @Test func changedRulesFileIsReadBeforeTheBacklogIsDelivered() async throws {
            let folder = try TemporaryFolder()
            let file = URL(fileURLWithPath: folder.path("rules.json5"))
            try Data("{ rules: [ { match: { path: '/hello/*' }, respond: { status: 503 } } ] }".utf8).write(to: file)
            try await withBacklog({ $0.rulesFile = file }) { agent, collector, base in
                #expect(agent.status.rules == 1)
                try Data("{ rules: [] }".utf8).write(to: file, options: .atomic)
                var status: Int?
                repeat {
                    let (_, response) = try await URLSession.shared.data(from: base / "hello/x")
                    status = (response as? HTTPURLResponse)?.statusCode
                } while status == 503 && collector.received.count < Self.batches
                #expect(status == 200)
                #expect(collector.received.count < Self.batches)
            }
        }

        @Test func hungRequestIsCountedBeforeTheBacklogIsDelivered() async throws {
            try await withBacklog({ $0.hung = .milliseconds(100) }) { agent, collector, base in
                let task = URLSession.shared.dataTask(with: base / "never") { _, _, _ in }
                task.resume()
                await arrivals.next()
                while agent.status.ledger.captured == 0, collector.received.count < Self.batches {
                    try await Task.sleep(for: .milliseconds(5))
                }
                #expect(agent.status.ledger.captured == 1)
                #expect(collector.received.count < Self.batches)
                task.cancel()
            }
        }
    }
}
