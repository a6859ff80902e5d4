import Fixtures
import Foundation
import FoundationNetworking
import MartletTelemetry
import Testing
import Tracing

@testable import Martlet

extension AgentTests {
    /// An agent in memory that replaces the process's agent.
    @Suite struct InMemoryAgentTests {
        @Test func requestIsRecordedBeforeItsCallerHasItsAnswer() async throws {
            try await Self.serve { base in
                let agent = MartletAgent.inMemory()
                for number in 1...100 {
                    let known = await withCheckedContinuation { told in
                        URLSession.shared.dataTask(with: base / "hello/\(number)") { _, _, _ in
                            told.resume(returning: agent.requests.count)
                        }.resume()
                    }
                    #expect(known == number)
                }
                await agent.shutdown()
            }
        }

        @Test func capturedRequestHasTheFieldsForAssertions() async throws {
            try await Self.serve { base in
                var configuration = MartletConfiguration()
                configuration.endpoints = ["/hello/{name}"]
                let agent = MartletAgent.inMemory(configuration)
                let start = Date()
                let url = URL(string: "http://user:pass@127.0.0.1:\(base.port ?? 0)/hello/x?token=secret#part")
                _ = try await URLSession.shared.data(from: try #require(url))
                _ = try await URLSession.shared.data(from: base / "status/1404")
                _ = try? await URLSession.shared.data(from: try #require(URL(string: "http://127.0.0.1:1/nobody")))
                let requests = agent.requests
                #expect(requests.map(\.method) == ["GET", "GET", "GET"])
                #expect(requests.map(\.kind) == [.client, .client, .client])
                #expect(requests.map(\.host) == ["127.0.0.1", "127.0.0.1", "127.0.0.1"])
                #expect(requests.map(\.port) == [base.port, base.port, 1])
                #expect(requests.map(\.endpoint) == ["/hello/{name}", "/status/{id}", "/nobody"])
                #expect(
                    requests.map(\.url) == ["\(base)/hello/x", "\(base)/status/1404", "http://127.0.0.1:1/nobody"])
                #expect(requests.map(\.status) == [200, 404, nil])
                #expect(requests.map(\.errorType) == [nil, "404", "connection_refused"])
                #expect(requests.map(\.isFailure) == [false, true, true])
                #expect(requests.map(\.bytesReceived) == [5, 0, 0])
                #expect(requests.allSatisfy { $0.duration > .zero && $0.start >= start })
                #expect(agent.status.ledger == .init(captured: 3, waiting: 3))
                await agent.shutdown()
            }
        }

        @Test func agentInMemoryWritesNoFileAndContactsNoCollector() async throws {
            let (folder, collector) = (try TemporaryFolder(), StubCollector())
            try await LoopbackServer.run(service(with: collector)) { base in
                var configuration = MartletConfiguration()
                configuration.bufferDirectory = folder.url
                configuration.collector = base
                configuration.interval = .milliseconds(100)
                let agent = MartletAgent.inMemory(configuration)
                _ = try await URLSession.shared.data(from: base / "hello/x")
                await agent.flush()
                await agent.shutdown()
                #expect(agent.requests.count == 1)
                #expect(folder.contents() == [])
                #expect(collector.received.isEmpty)
                #expect(agent.status.bufferDirectory == nil)
            }
        }

        @Test func spansThatAreRequestsAreRecordedToo() async throws {
            let agent = MartletAgent.inMemory()
            let span = agent.tracer.startSpan("GET", ofKind: .client)
            span.attributes["http.request.method"] = "GET"
            span.attributes["url.full"] = "https://spans.example/orders/7?key=1"
            span.attributes["http.response.status_code"] = 503
            span.end()
            agent.tracer.startSpan("work", ofKind: .internal).end()
            #expect(agent.requests.map(\.endpoint) == ["/orders/{id}"])
            #expect(agent.requests.map(\.url) == ["https://spans.example/orders/7"])
            #expect(agent.requests.map(\.isFailure) == [true])
            await agent.shutdown()
        }

        @Test func captureCanBeSwitchedOffAndOn() async throws {
            try await Self.serve { base in
                let agent = MartletAgent.inMemory()
                agent.isCapturing = false
                _ = try await URLSession.shared.data(from: base / "hello/unseen")
                agent.isCapturing = true
                _ = try await URLSession.shared.data(from: base / "hello/seen")
                await agent.shutdown()
                #expect(!agent.isCapturing)
                _ = try await URLSession.shared.data(from: base / "hello/after")
                #expect(agent.requests.map(\.endpoint) == ["/hello/seen"])
            }
        }

        @Test func explicitModeWorksAsInAShippingAgent() async throws {
            try await Self.serve { base in
                var configuration = MartletConfiguration()
                configuration.capture = .explicit
                let agent = MartletAgent.inMemory(configuration)
                #expect(agent.status.captureMode == .explicit)
                let asked = URLSessionConfiguration.ephemeral
                asked.captureWithMartlet()
                _ = try await URLSession.shared.data(from: base / "hello/shared")
                _ = try await URLSession(configuration: asked).data(from: base / "hello/asked")
                #expect(agent.requests.map(\.endpoint) == ["/hello/asked"])
                await agent.shutdown()
            }
        }

        @Test func startOfTheServiceGetsTheAgentInMemoryAndCannotEndIt() async throws {
            try await Self.serve { base in
                let agent = MartletAgent.inMemory()
                let services = MartletAgent.start()
                _ = try await URLSession.shared.data(from: base / "hello/a")
                #expect(services.requests.count == 1)
                await services.shutdown()
                _ = try await URLSession.shared.data(from: base / "hello/b")
                #expect(agent.requests.count == 2)
                #expect(agent.status.bufferDirectory == nil)
                _ = MartletAgent.start()
                await agent.shutdown()
                _ = try await URLSession.shared.data(from: base / "hello/c")
                #expect(agent.requests.count == 2)
            }
        }

        @Test func agentInMemoryReplacesTheProcessAgentUntilItEnds() async throws {
            try await withAgent { agent, collector, base in
                let inMemory = MartletAgent.inMemory()
                _ = try await URLSession.shared.data(from: base / "hello/memory")
                await inMemory.shutdown()
                _ = try await URLSession.shared.data(from: base / "hello/real")
                await agent.flush()
                #expect(inMemory.requests.map(\.endpoint) == ["/hello/memory"])
                #expect(try collector.counts() == ["/hello/real": 1])
                #expect(agent.requests.isEmpty)
            }
        }

        @Test func endOfOneAgentInMemoryLeavesTheOtherRunning() async throws {
            try await Self.serve { base in
                let (first, second) = (MartletAgent.inMemory(), MartletAgent.inMemory())
                await first.shutdown()
                _ = try await URLSession.shared.data(from: base / "hello/x")
                #expect(first.requests.isEmpty)
                #expect(second.requests.map(\.endpoint) == ["/hello/x"])
                await second.shutdown()
            }
        }

        @Test func agentThatIsSwitchedOffCapturesNothing() async throws {
            try await Self.serve { base in
                var configuration = MartletConfiguration()
                configuration.isEnabled = false
                let agent = MartletAgent.inMemory(configuration)
                _ = try await URLSession.shared.data(from: base / "hello/x")
                #expect(agent.requests.isEmpty)
                #expect(agent.status.captureMode == .off)
                await agent.shutdown()
            }
        }

        @Test func requestsOfAScopeDoNotReachTheProcessAgent() async throws {
            try await withAgent { agent, collector, base in
                try await MartletAgent.inMemory { scoped in
                    _ = try await URLSession.shared.data(from: base / "hello/scoped")
                    #expect(scoped.requests.map(\.endpoint) == ["/hello/scoped"])
                }
                _ = try await URLSession.shared.data(from: base / "hello/process")
                await agent.flush()
                #expect(try collector.counts() == ["/hello/process": 1])
            }
        }

        @Test func scopeCapturesEverySessionEvenIfTheProcessAgentIsExplicit() async throws {
            try await withAgent({ $0.capture = .explicit }) { agent, collector, base in
                let asked = URLSessionConfiguration.ephemeral
                asked.captureWithMartlet()
                let session = URLSession(configuration: asked)
                try await MartletAgent.inMemory { scoped in
                    #expect(scoped.status.captureMode == .automatic)
                    _ = try await URLSession.shared.data(from: base / "hello/shared")
                    _ = try await session.data(from: base / "hello/asked")
                    #expect(scoped.requests.map(\.endpoint) == ["/hello/shared", "/hello/asked"])
                }
                _ = try await session.data(from: base / "hello/process")
                await agent.flush()
                #expect(try collector.counts() == ["/hello/process": 1])
            }
        }

        /// If one of the service's own protocols answers a task, its observation remains, and a later task may have its
        /// address.
        @Test(arguments: [MartletConfiguration.Capture.automatic, .explicit], [true, false])
        func observationOfAnEndedScopeHidesNoLaterRequest(
            capture: MartletConfiguration.Capture, isAnotherScopeOpen: Bool
        ) async throws {
            try await withAgent({ $0.capture = capture }) { agent, collector, base in
                let configuration = URLSessionConfiguration.ephemeral
                configuration.captureWithMartlet()
                let (ends, end) = AsyncStream.makeStream(of: Never.self)
                let task = URLSession(configuration: configuration).dataTask(with: base / "hello/later") { _, _, _ in
                    end.finish()
                }
                await MartletAgent.inMemory { _ in _ = InFlightRequests.resume(task) }
                let other = CaptureScope()
                if isAnotherScopeOpen { other.open(for: nil) }
                task.resume()
                for await _ in ends {}
                if isAnotherScopeOpen { other.close() }
                await agent.flush()
                let counts = try collector.counts()
                #expect(counts == ["/hello/later": 1])
            }
        }

        @Test func observationOfAnEndedScopeDoesNotCountATaskCancelledBeforeItWasResumed() async throws {
            try await withAgent { agent, _, base in
                let (ends, end) = AsyncStream.makeStream(of: Never.self)
                let task = URLSession(configuration: .ephemeral).dataTask(with: base / "hello/x") { _, _, _ in
                    end.finish()
                }
                await MartletAgent.inMemory { _ in _ = InFlightRequests.resume(task) }
                task.cancel()
                task.resume()
                for await _ in ends {}
                #expect(agent.status.ledger.captured == 0)
                InFlightRequests.remove(task)
            }
        }

        /// The other agent starts between the task's resume and its loader's start.
        @Test func agentStartedMeanwhileDoesNotTakeARequestOfAScope() async throws {
            try await Self.serve { base in
                let task = URLSession.shared.dataTask(with: base / "hello/x")
                await MartletAgent.inMemory { _ in
                    _ = InFlightRequests.resume(task)
                    let agent = MartletAgent.inMemory()
                    #expect(InFlightRequests.scope(of: task) === CaptureScope.current)
                    await agent.shutdown()
                    InFlightRequests.remove(task)
                }
            }
        }

        @Test func newestRequestsAreKeptAboveTheLimit() {
            let recorded = RecordedRequests(MartletConfiguration())
            for number in 1...MartletLimits.requestsInMemory + 1 {
                recorded.add(
                    CapturedRequest(
                        method: "GET", destination: .target(RequestTarget(host: "h", port: 1, path: "/x")),
                        status: number, start: 1, durationNanoseconds: 1))
            }
            let statuses = recorded.all.map(\.status)
            #expect(statuses.count <= MartletLimits.requestsInMemory)
            #expect(statuses.last == MartletLimits.requestsInMemory + 1)
        }

        private static func serve(_ body: @escaping @Sendable (URL) async throws -> Void) async throws {
            try await LoopbackServer.run(service(with: StubCollector()), body)
        }
    }
}
