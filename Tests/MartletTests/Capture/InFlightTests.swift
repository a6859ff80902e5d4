import Foundation
import FoundationNetworking
import Testing

@testable import Martlet

extension AgentTests {
    @Suite struct InFlightTests {
        @Test(arguments: [MartletConfiguration.Capture.automatic, .explicit])
        func requestIsInFlightAndAgesUntilItIsAnswered(capture: MartletConfiguration.Capture) async throws {
            try await withAgent({ Self.only("*/held", capture, &$0) }) { agent, _, base in
                #expect(agent.status.inFlight == 0)
                #expect(agent.status.oldestInFlight == .zero)
                async let answer = Self.session().data(from: base / "held")
                await arrivals.next()
                let (young, old) = (agent.status, agent.status)
                #expect(young.inFlight == 1)
                #expect(young.oldestInFlight > .zero)
                #expect(old.oldestInFlight > young.oldestInFlight)
                departures.arrive()
                _ = try await answer
                #expect(agent.status.inFlight == 0)
                #expect(agent.status.oldestInFlight == .zero)
            }
        }

        @Test(arguments: [MartletConfiguration.Capture.automatic, .explicit])
        func cancelledRequestIsNoLongerInFlight(capture: MartletConfiguration.Capture) async throws {
            try await withAgent({ Self.only("*/never", capture, &$0) }) { agent, _, base in
                let (ends, end) = AsyncStream.makeStream(of: Never.self)
                let task = Self.session().dataTask(with: base / "never") { _, _, _ in end.finish() }
                task.resume()
                await arrivals.next()
                #expect(agent.status.inFlight == 1)
                task.cancel()
                for await _ in ends {}
                #expect(agent.status.inFlight == 0)
            }
        }

        @Test(arguments: [MartletConfiguration.Capture.automatic, .explicit])
        func hungRequestIsCountedOnceAndIsNoLongerInFlight(capture: MartletConfiguration.Capture) async throws {
            try await withAgent({
                Self.only("*/never", capture, &$0)
                $0.hung = .milliseconds(100)
            }) { agent, collector, base in
                let (ends, end) = AsyncStream.makeStream(of: Never.self)
                let task = Self.session().dataTask(with: base / "never") { _, _, _ in end.finish() }
                task.resume()
                await arrivals.next()
                while try collector.counts()["/never"] == nil { await agent.flush() }
                #expect(agent.status.inFlight == 0)
                task.cancel()
                for await _ in ends {}
                await agent.flush()
                let (outcomes, counts) = (try collector.outcomes(), try collector.counts())
                #expect(outcomes == ["/never - hung"])
                #expect(counts == ["/never": 1])
            }
        }

        @Test(.timeLimit(.minutes(1)))
        func hungRequestIsCountedBeforeALongIntervalEnds() async throws {
            try await withAgent({
                Self.only("*/never", .automatic, &$0)
                $0.hung = .milliseconds(100)
                $0.interval = .seconds(3600)
            }) { agent, _, base in
                let task = Self.session().dataTask(with: base / "never") { _, _, _ in }
                task.resume()
                await arrivals.next()
                while agent.status.inFlight > 0 { try await Task.sleep(for: .milliseconds(10)) }
                #expect(agent.status.ledger.captured == 1)
                task.cancel()
            }
        }

        @Test func onlyALimitedNumberOfRequestsInFlightIsTracked() throws {
            let url = try #require(URL(string: "http://127.0.0.1:1/"))
            let tasks = (0..<InFlightRequests.limit + 1000).map { _ in URLSession.shared.dataTask(with: url) }
            for task in tasks { _ = InFlightRequests.resume(task) }
            #expect(tasks.count(where: InFlightRequests.knows) == InFlightRequests.limit)
            #expect(InFlightRequests.estimatedBytes == InFlightRequests.limit * InFlightRequests.bytesPerRequest)
            for task in tasks { InFlightRequests.remove(task) }
            #expect(!tasks.contains(where: InFlightRequests.knows))
            #expect(InFlightRequests.estimatedBytes == 0)
        }

        @Test(arguments: [MartletConfiguration.Capture.automatic, .explicit])
        func requestEndsNormallyIfCaptureIsSwitchedOffMeanwhile(capture: MartletConfiguration.Capture) async throws {
            try await withAgent({ Self.only("127.0.0.1/*", capture, &$0) }) { agent, collector, base in
                let session = Self.session()
                async let answer = session.data(from: base / "held")
                await arrivals.next()
                agent.isCapturing = false
                departures.arrive()
                let (data, response) = try await answer
                #expect(data == Data("held".utf8))
                #expect((response as? HTTPURLResponse)?.statusCode == 200)
                #expect(agent.status.inFlight == 0)
                agent.isCapturing = true
                _ = try await session.data(from: base / "hello/later")
                await agent.flush()
                let counts = try collector.counts()
                #expect(counts == ["/hello/later": 1])
            }
        }

        /// Captures only requests that match `pattern`, because other tests of this process make requests meanwhile.
        private static func only(
            _ pattern: String, _ capture: MartletConfiguration.Capture, _ configuration: inout MartletConfiguration
        ) {
            configuration.capture = capture
            configuration.include = [pattern]
        }

        private static func session() -> URLSession {
            let configuration = URLSessionConfiguration.ephemeral
            configuration.captureWithMartlet()
            return URLSession(configuration: configuration)
        }
    }
}
