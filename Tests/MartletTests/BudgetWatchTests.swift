import Foundation
import FoundationNetworking
import InMemoryLogging
import Logging
import MartletOTLP
import Synchronization
import Testing
import Tracing

@testable import Martlet

extension AgentTests {
    @Suite struct BudgetWatchTests {
        @Test func agentOverBudgetGivesUpStepByStepAndLogsEachStepOnce() async throws {
            let log = InMemoryLogHandler()
            try await withAgent({
                $0.include = ["127.0.0.1/hello/*", "127.0.0.1/trace"]
                $0.sampleRate = 1
                $0.maxCPU = 1e-9
                $0.budgetTerms = .impatient
                $0.logger = Logger(label: "test", factory: { _ in log })
            }) { agent, collector, base in
                let ask: @Sendable (String) async throws -> Data = { path in
                    let (data, _) = try await URLSession.shared.data(from: base / path)
                    await agent.flush()
                    return data
                }
                _ = try await ask("hello/detailed")
                #expect(agent.status.captureMode == .automatic)
                let first = try #require(agent.status.captureReason)
                let traced = try await ask("trace")
                #expect(traced.count > 1)
                let second = try #require(agent.status.captureReason)
                // The answer is the line break between the two missing headers.
                let untraced = try await ask("trace")
                #expect(untraced == Data("\n".utf8))
                #expect(agent.status.captureMode == .off)
                #expect(agent.status.droppedDetails == 2)
                let third = try #require(agent.status.captureReason)
                _ = try await ask("hello/unseen")
                #expect(!agent.isCapturing)
                #expect(agent.status.ledger.captured == 3)
                #expect(agent.status.ledger.delivered == 3)

                let (counts, spans) = (try collector.counts(), try collector.spans().map(\.name))
                #expect(counts == ["/hello/detailed": 1, "/trace": 2])
                #expect(spans == ["GET /hello/detailed"])
                let reasons = [first, second, third]
                #expect(reasons == Self.steps.map { "\($0): the agent's CPU time exceeds MARTLET_MAX_CPU" })
                let reported = try collector.resources().compactMap { $0["martlet.capture.reason"] }
                #expect(Set(reported) == Set(reasons))
                let logged = log.entries.filter { $0.level >= .warning }.map { "\($0.message)" }
                let sentences = [
                    "No details of requests are kept", "Requests are counted without phases, trace headers and spans",
                    "Capture is paused",
                ]
                let shares = #/[\d.]+ % of the process's CPU time \([\d.]+ % of a core\)/#
                for (line, sentence) in zip(logged, sentences) {
                    let figures = line.trimmingPrefix(sentence + ": ").trimmingPrefix(shares)
                    #expect(figures == " exceeds MARTLET_MAX_CPU (0.0 %); the next attempt is in 3600 s", "\(line)")
                }
                #expect(logged.count == sentences.count)
            }
        }

        @Test func pausedCaptureResumesByItselfAndLogsIt() async throws {
            let log = InMemoryLogHandler()
            try await withAgent({
                $0.maxCPU = 1e-9
                $0.budgetTerms = .impatient
                $0.budgetTerms.firstPause = .zero
                $0.logger = Logger(label: "test", factory: { _ in log })
            }) { agent, collector, base in
                while agent.isCapturing { await agent.flush() }
                #expect(agent.status.unwatched > .zero)
                await agent.flush()
                #expect(agent.isCapturing)
                let unwatched = agent.status.unwatched
                _ = try await URLSession.shared.data(from: base / "hello/again")
                await agent.flush()
                let counts = try collector.counts()
                #expect(counts == ["/hello/again": 1])
                #expect(unwatched > .zero)
                #expect(
                    log.entries.contains { "\($0.message)".hasPrefix("Capture has resumed and counts requests again") })
            }
        }

        @Test func eachBatchReportsTheAgentsCPUTime() async throws {
            try await withAgent { agent, collector, base in
                for name in ["one", "two"] {
                    _ = try await URLSession.shared.data(from: base / "hello" / name)
                    await agent.flush()
                }
                let told = try collector.agentCPU()
                #expect(told.count == 2 && 0 < told[0] && told[0] < told[1], "\(told)")
                #expect(.seconds(told[1]) <= agent.status.cpuTime)
            }
        }

        @Test func servicesSwitchOverridesTheBudget() async throws {
            try await withAgent({
                $0.maxCPU = 1e-9
                $0.budgetTerms = .impatient
                $0.budgetTerms.firstPause = .zero
            }) { agent, collector, base in
                while agent.isCapturing { await agent.flush() }
                agent.isCapturing = false
                for _ in 0..<5 { await agent.flush() }
                #expect(!agent.isCapturing)
                agent.isCapturing = true
                _ = try await URLSession.shared.data(from: base / "hello/seen")
                await agent.flush()
                let counts = try collector.counts()
                #expect(counts == ["/hello/seen": 1])
            }
        }

        @Test func requestIsCountedWithItsSizesIfOnlyCountsAreAllowed() async throws {
            try await withAgent { agent, collector, base in
                CaptureSwitch.recorder?.allow(.countsOnly)
                for _ in 0..<3 {
                    var request = URLRequest(url: base / "echo")
                    (request.httpMethod, request.httpBody) = ("POST", Data(repeating: 1, count: 1000))
                    _ = try await URLSession.shared.data(for: request)
                }
                await agent.flush()
                let metrics = [
                    MetricName.clientRequestSize, MetricName.clientResponseSize, MetricName.clientPhaseDuration,
                ]
                let (counts, sums) = (try collector.counts(), try metrics.map(collector.sums))
                #expect(counts == ["/echo": 3])
                #expect(sums == [[3000], [3000], []])
            }
        }

        /// The reasons of the steps, without the cause. Other programs start new streams for each new text, so no figure
        /// is in one.
        private static let steps = ["no details are kept", "no details, phases, trace headers or spans", "paused"]

        /// The agent's memory is judged at the end of each period, so each judgement takes a step.
        @Test func memoryGivesUpOneStepAtATime() async throws {
            let number = 100
            try await withAgent({
                $0.interval = .milliseconds(100)
                $0.budgetTerms.period = .milliseconds(100)
                $0.maxMemory = number / 2 * InFlightRequests.bytesPerRequest
            }) { agent, collector, base in
                await agent.flush()
                #expect(agent.status.captureReason == nil)
                let configuration = URLSessionConfiguration.ephemeral
                configuration.httpMaximumConnectionsPerHost = 1
                let session = URLSession(configuration: configuration)
                let (ends, end) = AsyncStream.makeStream(of: Void.self)
                let tasks = (0..<number).map { _ in session.dataTask(with: base / "never") { _, _, _ in end.yield() } }
                for task in tasks { task.resume() }
                await arrivals.next()
                #expect(agent.status.memoryBytes >= number * InFlightRequests.bytesPerRequest)
                while agent.isCapturing { await agent.flush() }
                #expect(agent.status.captureReason?.contains("MARTLET_MAX_MEMORY") == true)
                await agent.flush()
                let reported = try collector.resources().compactMap { $0["martlet.capture.reason"] }
                #expect(Set(reported) == Set(Self.steps.map { "\($0): the agent's memory exceeds MARTLET_MAX_MEMORY" }))
                // The last task is cancelled first, so that no other task takes its connection.
                for task in tasks.reversed() { task.cancel() }
                var ended = ends.makeAsyncIterator()
                for _ in tasks { await ended.next() }
            }
        }

        @Test func serviceClosuresDoNotCountAsTheAgentsCost() async throws {
            let burnt = Atomic<UInt64>(0)
            let burn: @Sendable () -> Void = {
                let start = Clock.threadCPU()
                while Clock.threadCPU() &- start < 2_000_000 {}
                burnt.wrappingAdd(Clock.threadCPU() &- start, ordering: .relaxed)
            }
            var configuration = MartletConfiguration()
            configuration.ignore = { _ in
                burn()
                return false
            }
            configuration.name = { _ in
                burn()
                return "named"
            }
            let url = try #require(URL(string: "http://a.test/x"))
            await MartletAgent.inMemory(configuration) { agent in
                let before = AgentCost.nanoseconds
                for _ in 0..<200 { agent.record(MartletRequest("GET", url, start: Date(), duration: .zero)) }
                #expect(agent.requests.count { $0.endpoint == "named" } == 200)
                #expect(AgentCost.nanoseconds - before < burnt.load(ordering: .relaxed) / 4)
            }
        }

        @Test func closureOnTheAgentsThreadDoesNotCountAsTheAgentsCost() async {
            let (whole, own) = await withCheckedContinuation { continuation in
                Thread {
                    AgentCost.beginThread()
                    AgentCost.excludingTime { while Clock.threadCPU() < 50_000_000 {} }
                    continuation.resume(returning: (Clock.threadCPU(), AgentCost.thread))
                }.start()
            }
            #expect(whole >= 50_000_000)
            #expect(own < whole / 2)
        }

        /// The agent times every 61st call of a thread.
        @Test func spanStartAndEndAreMeasured() async {
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

extension BudgetTerms {
    /// The terms of a budget that is always exceeded: each check of the agent's cost is a judgement, and no step
    /// resumes within a test.
    fileprivate static let impatient = BudgetTerms(
        period: .zero, freeCore: 0, costlyTime: .zero, firstPause: .seconds(3600), longestPause: .seconds(3600))
}
