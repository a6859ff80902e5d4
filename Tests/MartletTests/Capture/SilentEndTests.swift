import Foundation
import FoundationNetworking
import Testing

@testable import Martlet

extension AgentTests {
    /// If nobody answers a task's challenge, Foundation since 6.3.2 ends the task within its own client of the loader.
    /// The agent's observer, which is in front of that client, gets no call. The tests simulate Foundation, so that
    /// they cover every release.
    @Suite struct SilentEndTests {
        @Test func challengedRequestEndsWhenItsLoaderIsReleased() async throws {
            try await withAgent({ $0.include = ["*/basic"] }) { agent, collector, base in
                let task = Self.task(to: base / "basic")
                try Self.challenge(task).map { observer in
                    withExtendedLifetime(observer) { #expect(agent.status.ledger.captured == 0) }
                }
                #expect(agent.status.ledger.captured == 1)
                #expect(agent.status.inFlight == 0)
                task.cancel()
                await agent.flush()
                let (outcomes, counts) = (try collector.outcomes(), try collector.counts())
                #expect(outcomes == ["/basic 401 401"])
                #expect(counts == ["/basic": 1])
            }
        }

        /// A delegate that keeps a challenge's completion handler keeps the loader alive.
        @Test func challengedRequestEndsWithItsTaskIfItsLoaderIsKept() async throws {
            try await withAgent({ $0.include = ["*/basic"] }) { agent, collector, base in
                let (ends, end) = AsyncStream.makeStream(of: Never.self)
                let task = Self.task(to: base / "basic") { end.finish() }
                let observer = try Self.challenge(task)
                await agent.flush()
                #expect(agent.status.inFlight == 1)
                task.cancel()
                for await _ in ends {}
                while task.state != .completed { await Task.yield() }
                await agent.flush()
                #expect(agent.status.inFlight == 0)
                withExtendedLifetime(observer) {}
                await agent.flush()
                let (outcomes, counts) = (try collector.outcomes(), try collector.counts())
                #expect(outcomes == ["/basic 401 401"])
                #expect(counts == ["/basic": 1])
            }
        }

        /// Foundation releases a suspended task's loader before it gives the task another loader, which sends the
        /// credentials.
        @Test func suspendedRequestContinuesWhenItsLoaderIsReleased() async throws {
            try await withAgent({ $0.include = ["*/basic"] }) { agent, collector, base in
                let (ends, end) = AsyncStream.makeStream(of: Never.self)
                let task = Self.task(to: base / "basic") { end.finish() }
                try Self.challenge(task).map { observer in withExtendedLifetime(observer) { task.suspend() } }
                #expect(agent.status.inFlight == 1)
                #expect(agent.status.ledger.captured == 0)
                task.resume()
                task.cancel()
                for await _ in ends {}
                while task.state != .completed { await Task.yield() }
                await agent.flush()
                let counts = try collector.counts()
                #expect(counts == ["/basic": 1])
            }
        }

        @Test(.timeLimit(.minutes(1)))
        func newTaskAtTheAddressOfASilentlyEndedOneIsAnotherRequest() async throws {
            try await withAgent({ $0.include = ["*/basic", "*/hello/*"] }) { agent, collector, base in
                let (answers, answer) = AsyncStream.makeStream(of: Never.self)
                let session = URLSession(configuration: .ephemeral)
                var observers: [RequestObserver?] = []
                var second: URLSessionTask?
                // Another thread may take the memory that a task has freed.
                while second == nil, observers.count < 100 {
                    let (ends, end) = AsyncStream.makeStream(of: Never.self)
                    var first: URLSessionTask? = Self.task(to: base / "basic") { end.finish() }
                    observers.append(try first.flatMap(Self.challenge))
                    first?.cancel()
                    for await _ in ends {}
                    while !isKnownUniquelyReferenced(&first) { await Task.yield() }
                    second = Self.replace(&first) {
                        session.dataTask(with: base / "hello/x") { _, _, _ in answer.finish() }
                    }
                }
                try #require(second).resume()
                for await _ in answers {}
                withExtendedLifetime(observers) {}
                await agent.flush()
                let (outcomes, counts) = (try collector.outcomes(), try collector.counts())
                #expect(Set(outcomes) == ["/basic 401 401", "/hello/x 200 -"])
                #expect(counts == ["/basic": UInt64(observers.count), "/hello/x": 1])
            }
        }

        /// Releases a task that nothing else holds, and makes another one at its address: a thread's next allocation
        /// usually gets the memory that the thread has just freed.
        private static func replace(
            _ task: inout URLSessionTask?, by make: () -> URLSessionTask
        ) -> URLSessionTask? {
            let address = task.map(InFlightRequests.key)
            task = nil
            var others: [URLSessionTask] = []
            for _ in 0..<100 where others.last.map(InFlightRequests.key) != address { others.append(make()) }
            return others.last.map(InFlightRequests.key) == address ? others.last : nil
        }

        /// Makes a task that is in flight but has no loader.
        private static func task(to url: URL, onEnd end: @escaping @Sendable () -> Void = {}) -> URLSessionTask {
            let configuration = URLSessionConfiguration.ephemeral
            configuration.protocolClasses = [IdleProtocol.self]
            let task = URLSession(configuration: configuration).dataTask(with: url) { _, _, _ in end() }
            task.resume()
            return task
        }

        /// Gives a Foundation loader a challenge as its answer, and releases the loader.
        private static func challenge(_ task: URLSessionTask) throws -> RequestObserver? {
            let (type, recorder) = (try #require(NativeLoader.type), try #require(CaptureSwitch.recorder))
            let loader = type.init(task: task, cachedResponse: nil, client: Nobody())
            let observer = RequestInstrument(recorder: recorder).observe(loader, of: task, for: Nobody())
            let url = try #require(task.originalRequest?.url)
            let response = HTTPURLResponse(
                url: url, statusCode: 401, httpVersion: "HTTP/1.1",
                headerFields: ["WWW-Authenticate": "Basic realm=\"engine\""])
            observer?.urlProtocol(loader, didReceive: try #require(response), cacheStoragePolicy: .notAllowed)
            observer?.urlProtocolDidFinishLoading(loader)
            return observer
        }
    }
}
