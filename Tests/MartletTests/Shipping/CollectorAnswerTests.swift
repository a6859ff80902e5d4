import Fixtures
import Foundation
import FoundationNetworking
import HTTPTypes
import InMemoryLogging
import Logging
import MartletOTLP
import MartletTelemetry
import SwiftProtobuf
import Testing

@testable import Martlet

extension AgentTests {
    /// What happens to a batch after the collector's answer.
    @Suite struct CollectorAnswerTests {
        @Test(arguments: BatchStoreKind.allCases) func delayedBatchIsSentAgainWithTheSameID(
            kind: BatchStoreKind
        )
            async throws
        {
            try await kind.withAgent({ $0.sampleRate = 0 }) { agent, collector, base in
                collector.answer(503, 429, 502, 504)
                _ = try await URLSession.shared.data(from: base / "hello/x")
                for _ in 1...5 { await agent.flush() }
                #expect(collector.received.map(\.status) == [503, 429, 502, 504, 200])
                #expect(Set(collector.received.map(\.batch)).count == 1)
                #expect(Set(collector.received.map(\.body)).count == 1)
                #expect(agent.status.ledger == .init(captured: 1, delivered: 1))
                #expect(agent.status.uploadError == nil)
            }
        }

        @Test(arguments: BatchStoreKind.allCases) func nextAttemptWaitsForTheCollectorsRetryAfter(
            kind: BatchStoreKind
        )
            async throws
        {
            try await kind.withAgent { agent, collector, base in
                collector.answer(429, headers: [.retryAfter: "300"])
                _ = try await URLSession.shared.data(from: base / "hello/x")
                for _ in 1...3 { await agent.flush() }
                #expect(collector.received.map(\.status) == [429])
                #expect(agent.status.ledger == .init(captured: 1, waiting: 1))
                #expect(agent.status.bufferedBytes > 0)
            }
        }

        @Test(arguments: BatchStoreKind.allCases) func refusedBatchIsDroppedAndCountedAsRejected(kind: BatchStoreKind)
            async throws
        {
            try await kind.withAgent({ $0.sampleRate = 0 }) { agent, collector, base in
                collector.answer(400)
                _ = try await URLSession.shared.data(from: base / "hello/x")
                await agent.flush()
                _ = try await URLSession.shared.data(from: base / "hello/y")
                await agent.flush()
                #expect(agent.status.ledger == .init(captured: 2, delivered: 1, dropped: [.rejected: 1]))
                #expect(agent.status.bufferedBytes == 0)
            }
        }

        @Test(arguments: BatchStoreKind.allCases) func tokenIsSentOnlyToTheCollector(kind: BatchStoreKind)
            async throws
        {
            let log = InMemoryLogHandler()
            try await kind.withAgent({
                $0.token = "s3cret"
                $0.logger = Logger(label: "test", factory: { _ in log })
                $0.logLevel = .trace
            }) { agent, collector, base in
                collector.answer(401)
                _ = try await URLSession.shared.data(from: base / "hello/x")
                await agent.flush()
                #expect(collector.received.allSatisfy { $0.authorization == "Bearer s3cret" })
                #expect(collector.received.map(\.status).contains(401))
            }
            #expect(!log.entries.isEmpty)
            #expect(log.entries.allSatisfy { !"\($0)".contains("s3cret") })
        }

        @Test(arguments: BatchStoreKind.allCases) func wrongTokenOrAddressLosesNothing(kind: BatchStoreKind)
            async throws
        {
            let log = InMemoryLogHandler()
            try await kind.withAgent({
                $0.sampleRate = 0
                $0.logger = Logger(label: "test", factory: { _ in log })
            }) { agent, collector, base in
                collector.answer(401, 403, 404, 302)
                _ = try await URLSession.shared.data(from: base / "hello/x")
                for _ in 1...4 { await agent.flush() }
                #expect(agent.status.ledger == .init(captured: 1, waiting: 1))
                await agent.flush()
                #expect(agent.status.ledger == .init(captured: 1, delivered: 1))
            }
            #expect(log.entries.filter { "\($0.message)".contains("MARTLET_TOKEN") }.count == 1)
        }

        @Test(arguments: BatchStoreKind.allCases) func collectorThatRefusesTracesStillGetsMetrics(kind: BatchStoreKind)
            async throws
        {
            try await kind.withAgent({ $0.sampleRate = 1 }) { agent, collector, base in
                collector.tracesStatus.store(404, ordering: .relaxed)
                for _ in 1...3 {
                    _ = try await URLSession.shared.data(from: base / "hello/x")
                    await agent.flush()
                }
                #expect(agent.status.ledger == .init(captured: 3, delivered: 3))
                #expect(collector.received.filter { $0.path == "/v1/traces" && $0.status == 404 }.count == 3)
                let uploaded = Set(collector.received.filter { $0.path == "/v1/traces" }.map(\.batch))
                #expect(uploaded.count == 1)
                #expect(agent.status.bufferedBytes > 0)
            }
        }

        @Test(arguments: BatchStoreKind.allCases) func batchThatIsTooLargeIsSentInParts(kind: BatchStoreKind)
            async throws
        {
            try await kind.withAgent({
                $0.sampleRate = 0
                $0.compression = .none
            }) { agent, collector, base in
                collector.maxBody.store(4500, ordering: .relaxed)
                var expected: [String: UInt64] = [:]
                for letter in "abcdefgh" {
                    _ = try await URLSession.shared.data(from: base / "hello/\(letter)")
                    expected["/hello/\(letter)"] = 1
                }
                await agent.flush()
                #expect(agent.status.ledger == .init(captured: 8, delivered: 8))
                let counts = try collector.counts()
                #expect(counts == expected)
                let ids = collector.received.compactMap(\.batch)
                #expect(Set(ids).count == ids.count)
                #expect(ids.contains { $0.hasSuffix("/1.00/metrics") })
                #expect(agent.status.bufferedBytes == 0)
            }
        }

        @Test(arguments: BatchStoreKind.allCases) func indivisibleLargeBatchIsDroppedAndCounted(kind: BatchStoreKind)
            async throws
        {
            try await kind.withAgent({ $0.sampleRate = 0 }) { agent, collector, base in
                collector.maxBody.store(10, ordering: .relaxed)
                for letter in "abc" { _ = try await URLSession.shared.data(from: base / "hello/\(letter)") }
                await agent.flush()
                #expect(agent.status.ledger == .init(captured: 3, dropped: [.tooLarge: 3]))
                #expect(agent.status.bufferedBytes == 0)
            }
        }

        @Test(arguments: BatchStoreKind.allCases) func rejectedPartOfABatchIsCountedAsRejected(
            kind: BatchStoreKind
        ) async throws {
            try await kind.withAgent({ $0.sampleRate = 0 }) { agent, collector, base in
                let header = try #require(HTTPField.Name(BatchID.rejectedHeaderName))
                collector.answer(200, headers: [header: "2"])
                for letter in "abc" { _ = try await URLSession.shared.data(from: base / "hello/\(letter)") }
                await agent.flush()
                #expect(agent.status.ledger == .init(captured: 3, delivered: 1, dropped: [.rejected: 2]))
                #expect(collector.received.count == 1)
            }
        }

        @Test(
            arguments: [(1_000_000, 0, 3), (1, 3, 0)] as [(Int64, UInt64, UInt64)], BatchStoreKind.allCases)
        func rejectedDataPointsCountAsRequestsOnlyIfAllAreRejected(
            counts: (points: Int64, delivered: UInt64, rejected: UInt64), kind: BatchStoreKind
        ) async throws {
            let (points, delivered, rejected) = counts
            var response = OTLPExportMetricsServiceResponse()
            response.partialSuccess.rejectedDataPoints = points
            let body: [UInt8] = try response.serializedBytes()
            try await kind.withAgent({ $0.sampleRate = 0 }) { agent, collector, base in
                collector.answer(200, headers: [.contentType: "application/x-protobuf"], body: body)
                for letter in "abc" { _ = try await URLSession.shared.data(from: base / "hello/\(letter)") }
                await agent.flush()
                let ledger = agent.status.ledger
                #expect(ledger.delivered == delivered)
                #expect(ledger.dropped[.rejected, default: 0] == rejected)
                #expect(agent.status.uploadError != nil)
            }
        }
    }
}
