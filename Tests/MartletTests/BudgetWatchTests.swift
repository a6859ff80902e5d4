import Foundation
import FoundationNetworking
import InMemoryLogging
import Logging
import Testing
import Tracing

@testable import Martlet

extension AgentTests {
    @Suite struct BudgetWatchTests {
        @Test func anAgentThatCostsTooMuchGivesUpDetailsAndThenCaptureAndSaysEachOnce() async throws {
            let log = InMemoryLogHandler()
            try await withAgent({
                $0.include = ["127.0.0.1/hello/*"]
                $0.sampleRate = 1
                $0.maxCPU = 1e-9
                $0.budgetWindow = .zero
                $0.logger = Logger(label: "test", factory: { _ in log })
            }) { agent, collector, base in
                let ask: @Sendable (String) async throws -> Void = { path in
                    _ = try await URLSession.shared.data(from: base / "hello/\(path)")
                    await agent.flush()
                }
                try await ask("detailed")
                #expect(agent.status.captureMode == .automatic)
                let first = try #require(agent.status.captureReason)
                #expect(first.hasPrefix("no details are kept: "))
                try await ask("counted")
                #expect(agent.status.captureMode == .off)
                #expect(agent.status.droppedDetails == 1)
                let second = try #require(agent.status.captureReason)
                #expect([first, second].allSatisfy { $0.contains("MARTLET_MAX_CPU") })
                try await ask("unseen")
                #expect(!agent.isCapturing)
                #expect(agent.status.ledger.captured == 2)
                #expect(agent.status.ledger.delivered == 2)

                let (counts, spans) = (try collector.counts(), try collector.spans().map(\.name))
                #expect(counts == ["/hello/detailed": 1, "/hello/counted": 1])
                #expect(spans == ["GET /hello/detailed"])
                let told = try collector.resources().compactMap { $0["martlet.capture.reason"] }
                #expect(told.sorted() == [first, second].sorted())
                let said = log.entries.map { "\($0.message)" }
                #expect(said.count == 2)
                #expect(said.first?.hasPrefix("No details of requests are kept: ") == true)
                #expect(said.last == "Capture is off: \(second)")
            }
        }

        @Test func requestsInFlightCountToTheMemoryThatIsLimited() async throws {
            let number = 100
            try await withAgent({ $0.maxMemory = number / 2 * InFlightRequests.bytes }) { agent, _, base in
                await agent.flush()
                #expect(agent.status.captureReason == nil)
                let configuration = URLSessionConfiguration.ephemeral
                configuration.httpMaximumConnectionsPerHost = 1
                let session = URLSession(configuration: configuration)
                let (ends, end) = AsyncStream.makeStream(of: Void.self)
                let tasks = (0..<number).map { _ in session.dataTask(with: base / "never") { _, _, _ in end.yield() } }
                for task in tasks { task.resume() }
                await arrivals.next()
                #expect(agent.status.memoryBytes >= number * InFlightRequests.bytes)
                await agent.flush()
                #expect(agent.status.captureReason?.hasPrefix("no details are kept: ") == true)
                await agent.flush()
                #expect(agent.status.captureMode == .off)
                #expect(agent.status.captureReason?.contains("MARTLET_MAX_MEMORY") == true)
                // The last first, so that none finds the connection free.
                for task in tasks.reversed() { task.cancel() }
                var ended = ends.makeAsyncIterator()
                for _ in tasks { await ended.next() }
            }
        }

        /// Of the steps of one thread every 61st is timed.
        @Test func startAndEndOfASpanAreMeasured() async {
            _ = await recorded {
                let tracer = MartletTracer()
                let (before, context) = (AgentCost.nanoseconds, ServiceContext.topLevel)
                let spans = (0..<200).map { _ in tracer.startSpan("work", context: context) }
                let started = AgentCost.nanoseconds
                for span in spans { span.end() }
                #expect(started > before)
                #expect(AgentCost.nanoseconds > started)
            }
        }
    }
}
