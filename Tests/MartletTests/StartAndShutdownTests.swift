import Fixtures
import Foundation
import FoundationNetworking
import InMemoryLogging
import Logging
import Synchronization
import Testing

@testable import Martlet

extension AgentTests {
    /// Agents that are switched off, started twice and shut down in any order.
    @Suite struct StartAndShutdownTests {
        @Test func disabledAgentDoesNothing() async throws {
            let directory = try TemporaryFolder()
            var configuration = MartletConfiguration()
            configuration.isEnabled = false
            configuration.bufferDirectory = directory.url
            let agent = MartletAgent.start(configuration)
            agent.isCapturing = true
            #expect(!agent.isCapturing)
            await agent.flush()
            #expect(await agent.flush(within: .seconds(60)))
            await agent.shutdown()
            #expect(agent.status.captureMode == .off)
            #expect(directory.contents() == [])
        }

        @Test func firstShutdownDoesNotEndAnAgentThatWasStartedTwice() async throws {
            try await withAgent { agent, collector, base in
                let second = MartletAgent.start(Self.quiet)
                #expect(second.status.bufferDirectory == agent.status.bufferDirectory)
                _ = try await URLSession.shared.data(from: base / "hello/a")
                await second.shutdown()
                await second.shutdown()
                #expect(!second.isCapturing)
                #expect(try collector.counts() == ["/hello/a": 1])
                #expect(agent.isCapturing)
                _ = try await URLSession.shared.data(from: base / "hello/b")
                await agent.shutdown()
                #expect(!agent.isCapturing)
                #expect(agent.status.ledger == .init(captured: 2, delivered: 2))
            }
        }

        @Test func lastShutdownEndsTheAgentInAnyOrder() async throws {
            try await withAgent { agent, collector, base in
                let second = MartletAgent.start(Self.quiet)
                await agent.shutdown()
                _ = try await URLSession.shared.data(from: base / "hello/a")
                await second.shutdown()
                #expect(second.status.ledger == .init(captured: 1, delivered: 1))
                _ = try await URLSession.shared.data(from: base / "hello/b")
                #expect(second.status.ledger.captured == 1)
            }
        }

        @Test func shutdownThatIsNotTheLastKeepsItsTimeLimitToo() async throws {
            try await withAgent { agent, collector, base in
                let second = MartletAgent.start(Self.quiet)
                collector.isSilent.store(true, ordering: .relaxed)
                _ = try await URLSession.shared.data(from: base / "hello/x")
                // The collector never answers, so only the limit ends the shutdown.
                await second.shutdown(within: .milliseconds(300))
                #expect(agent.isCapturing)
                #expect(agent.status.ledger == .init(captured: 1, waiting: 1))
                collector.isSilent.store(false, ordering: .relaxed)
                await agent.shutdown(within: .milliseconds(300))
            }
        }

        private static var quiet: MartletConfiguration {
            var configuration = MartletConfiguration()
            configuration.logger = Logger(label: "test", factory: { _ in InMemoryLogHandler() })
            return configuration
        }
    }
}
