import Foundation
import FoundationNetworking
import InMemoryLogging
import Logging
import MartletTelemetry
import Testing

@testable import Martlet

extension AgentTests {
    /// One warning for a problem, even if libcurl words it differently each time, and one message when it is over.
    @Suite struct DeliveryLogTests {
        private let handler = InMemoryLogHandler()

        private var lines: [String] {
            handler.entries.filter { $0.level >= .warning }.map { "\($0.message)" }.filter { $0.contains("collector") }
        }

        private func withLog(_ body: @escaping @Sendable (MartletAgent, StubCollector, URL) async throws -> Void)
            async throws
        {
            let handler = handler
            try await withAgent(
                {
                    $0.sampleRate = 1
                    $0.logger = Logger(label: "test", factory: { _ in handler })
                }, body)
        }

        @Test func busyCollectorAndItsRecoveryAreLoggedOnceForAllSignals() async throws {
            try await withLog { agent, collector, base in
                _ = try await URLSession.shared.data(from: base / "hello/x")
                // The collector refuses metrics twice and then accepts them; it refuses details once and then accepts
                // them.
                collector.answer(503, 502, 200, 503, 200)
                for _ in 1...4 { await agent.flush() }
                #expect(collector.received.map(\.status) == [503, 502, 200, 503, 200])
            }
            #expect(
                lines == [
                    "The collector cannot be reached; batches wait in the buffer: status 503",
                    "The collector accepts batches again",
                ])
        }

        /// Each attempt for a signal fails with a different wording.
        @Test func changedWordingOfAFailureGivesNoNewWarning() {
            var configuration = MartletConfiguration()
            let handler = handler
            configuration.logger = Logger(label: "test", factory: { _ in handler })
            var news = DeliveryLog(own: configuration.collectors, log: AgentLog(configuration))
            for milliseconds in 0..<100 {
                for signal in Signal.allCases {
                    let line = UploadRoute(address: configuration.collector, signal: signal)
                    news.fail(line, .backOff, "Failed to connect to collector port 1 after \(milliseconds) ms")
                    news.endRound(waiting: Set(UploadRoutes.all(to: configuration.collectors)))
                }
            }
            #expect(lines.count == 1)
            // The details were dropped meanwhile, and no new ones followed.
            let routes = Signal.allCases.map { UploadRoute(address: configuration.collector, signal: $0) }
            news.succeed(routes[0], of: configuration.collectors)
            news.endRound(waiting: [routes[1]])
            #expect(lines.count == 1)
            news.endRound(waiting: [])
            #expect(lines.count == 2)
        }

        @Test func refusedSignalGetsASeparateWarning() async throws {
            try await withLog { agent, collector, base in
                collector.tracesStatus.store(404, ordering: .relaxed)
                for _ in 1...3 {
                    _ = try await URLSession.shared.data(from: base / "hello/x")
                    await agent.flush()
                }
                collector.tracesStatus.store(0, ordering: .relaxed)
                await agent.flush()
            }
            try #require(lines.count == 2, "\(lines)")
            #expect(
                lines[0].hasPrefix(
                    "The collector does not accept traces; they wait in the buffer; check MARTLET_ENDPOINT"))
            #expect(lines[1] == "The collector accepts traces again")
        }
    }
}
