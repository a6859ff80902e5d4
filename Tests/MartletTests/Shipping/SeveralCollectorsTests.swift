import Fixtures
import Foundation
import FoundationNetworking
import InMemoryLogging
import Logging
import Testing

@testable import Martlet

extension AgentTests {
    /// An agent with two collectors, over each transport.
    @Suite struct SeveralCollectorsTests {
        typealias Transport = MartletConfiguration.Transport

        /// The collectors in the order of the agent's preference.
        struct Pair {
            let agent: MartletAgent
            let preferred: StubCollector
            let other: StubCollector
            let addresses: (preferred: URL, other: URL)
            /// The service that the requests go to.
            let base: URL
            let log: InMemoryLogHandler

            /// Makes a request and delivers it.
            func send() async throws {
                _ = try await URLSession.shared.data(from: base / "hello/x")
                await agent.flush()
            }

            /// Lets each collector answer once, so that the agent knows their stores. After that it avoids the
            /// preferred one for at least a minute.
            func meet(stores: (preferred: String?, other: String?)) async throws {
                preferred.store.withLock { $0 = stores.preferred }
                other.store.withLock { $0 = stores.other }
                preferred.answer(429)
                try await send()
                #expect(preferred.received.map(\.status) == [200, 429])
                #expect(other.received.map(\.status) == [200])
            }
        }

        private func withTwo(
            _ transport: Transport, timeout: Duration = .seconds(10),
            temporality: MartletConfiguration.Temporality = .delta,
            _ body: @escaping @Sendable (Pair) async throws -> Void
        ) async throws {
            let (directory, log) = (try TemporaryFolder(), InMemoryLogHandler())
            let (first, second) = (StubCollector(), StubCollector())
            try await LoopbackServer.run(service(with: first)) { firstURL in
                try await LoopbackServer.run(service(with: second)) { secondURL in
                    var configuration = MartletConfiguration()
                    configuration.bufferDirectory = directory.url
                    configuration.interval = .seconds(60)
                    configuration.sampleRate = 0
                    configuration.transport = transport
                    configuration.exportTimeout = timeout
                    configuration.temporality = temporality
                    configuration.logger = Logger(label: "test", factory: { _ in log })
                    configuration.collectors = [firstURL, secondURL]
                    for stub in [first, second] { stub.port.store(firstURL.port ?? 0, ordering: .relaxed) }
                    let agent = MartletAgent.start(configuration)
                    // The first batch shows which one the agent prefers.
                    _ = try await URLSession.shared.data(from: firstURL / "hello/x")
                    await agent.flush()
                    let isFirst = second.received.isEmpty
                    let pair =
                        isFirst
                        ? Pair(
                            agent: agent, preferred: first, other: second, addresses: (firstURL, secondURL),
                            base: firstURL,
                            log: log)
                        : Pair(
                            agent: agent, preferred: second, other: first, addresses: (secondURL, firstURL),
                            base: firstURL,
                            log: log)
                    do { try await body(pair) } catch { Issue.record(error) }
                    await agent.shutdown()
                }
            }
            #expect(directory.contents().filter { $0.contains(".otlp") } == [])
        }

        @Test(arguments: Transport.allCases)
        func refusedBatchAndLaterOnesGoToTheOtherCollectorAtOnce(transport: Transport) async throws {
            try await withTwo(transport) { two in
                #expect(two.agent.status.lastCollector == two.addresses.preferred)
                two.preferred.answer(429)
                try await two.send()
                #expect(two.agent.status.lastCollector == two.addresses.other)
                #expect(two.agent.status.uploadError == nil)
                try await two.send()
                #expect(two.preferred.received.map(\.status) == [200, 429])
                #expect(two.other.received.map(\.status) == [200, 200])
                #expect(two.other.received.first?.batch == two.preferred.received.last?.batch)
                #expect(two.agent.status.ledger == .init(captured: 3, delivered: 3))
                let address = two.addresses.preferred.absoluteString
                let warnings = two.log.entries.map { "\($0.message)" }.filter { $0.contains("cannot be reached") }
                #expect(
                    warnings == [
                        "The collector \(address) cannot be reached; batches go to another collector or wait in "
                            + "the buffer: status 429"
                    ])
            }
        }

        @Test(arguments: Transport.allCases, ["s", "t"])
        func batchWithoutAnAnswerGoesOnlyToACollectorOfTheSameStore(transport: Transport, store: String) async throws {
            try await withTwo(transport, timeout: .milliseconds(500)) { two in
                try await two.meet(stores: ("s", store))
                two.other.isSilent.store(true, ordering: .relaxed)
                try await two.send()
                #expect(two.agent.status.ledger.waiting == (store == "s" ? 0 : 1))
                #expect(two.preferred.accepted.count == (store == "s" ? 2 : 1))
                // The next batch may go to either.
                try await two.send()
                #expect(two.preferred.accepted.count == (store == "s" ? 3 : 2))
                two.other.isSilent.store(false, ordering: .relaxed)
                await two.agent.flush()
                #expect(two.agent.status.ledger == .init(captured: 4, delivered: 4))
                let counts = [try two.preferred.counts(), try two.other.counts()]
                #expect(counts.map { $0["/hello/x"] ?? 0 } == (store == "s" ? [3, 1] : [2, 2]))
            }
        }

        /// The collectors name no store, so a batch that may have arrived waits for the collector that it was sent to.
        @Test(arguments: Transport.allCases)
        func sumsIncludeABatchThatWaitsForTheOtherCollector(transport: Transport) async throws {
            try await withTwo(transport, temporality: .cumulative) { two in
                two.preferred.answer(504, 504)
                for _ in 1...2 { try await two.send() }
                #expect(two.preferred.received.map(\.status) == [200, 504, 504])
                #expect(try two.other.points().map(\.count) == [3])
                await two.agent.flush()
                #expect(two.agent.status.ledger == .init(captured: 3, delivered: 3))
                #expect(try two.preferred.points().map(\.count).sorted() == [1, 3])
            }
        }

        @Test(arguments: Transport.allCases)
        func batchRefusedByAProxyMayHaveReachedTheCollectorBehindIt(transport: Transport) async throws {
            try await withTwo(transport) { two in
                two.preferred.answer(503)
                try await two.send()
                #expect(two.agent.status.ledger == .init(captured: 2, delivered: 1, waiting: 1))
                #expect(two.other.received.isEmpty)
                await two.agent.flush()
                #expect(two.preferred.received.map(\.status) == [200, 503, 200])
                #expect(two.agent.status.ledger == .init(captured: 2, delivered: 2))
            }
        }
    }
}
