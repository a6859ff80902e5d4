import Fixtures
import Foundation
import FoundationNetworking
import HTTPTypes
import MartletOTLP
import MartletTelemetry
import Testing

@testable import Martlet

extension AgentTests {
    /// Uploads to a back end that accepts only cumulative points.
    @Suite struct CumulativeTests {
        /// A point's requests and times, by endpoint.
        private struct Point: Equatable {
            var count: UInt64
            var start: UInt64
            var end: UInt64
        }

        /// Returns the points of durations in each upload of metrics, the oldest first. Includes refused uploads.
        private static func points(of collector: StubCollector) throws -> [[String: Point]] {
            try collector.received.filter { $0.path == "/v1/metrics" }.map { post in
                let metrics = try OTLPExportMetricsServiceRequest(serializedBytes: post.plainBody).resourceMetrics
                    .flatMap(\.scopeMetrics).flatMap(\.metrics)
                for metric in metrics {
                    switch metric.data {
                    case .exponentialHistogram(let data): #expect(data.aggregationTemporality == .cumulative)
                    case .histogram(let data): #expect(data.aggregationTemporality == .cumulative)
                    default: break
                    }
                }
                return metrics.filter { $0.name == MetricName.clientDuration }.flatMap(
                    \.exponentialHistogram.dataPoints
                )
                .reduce(into: [:]) { points, point in
                    let endpoint = point.attributes.first { $0.key == "url.template" }?.value.stringValue ?? ""
                    points[endpoint] = Point(
                        count: point.count, start: point.startTimeUnixNano, end: point.timeUnixNano)
                }
            }
        }

        private static func counts(_ points: [String: Point]) -> [String: UInt64] { points.mapValues(\.count) }

        @Test(arguments: BatchStoreKind.allCases)
        func batchTooLargeWithAllStreamsIsSentOnlyWithItsOwn(kind: BatchStoreKind) async throws {
            try await kind.withAgent({
                $0.temporality = .cumulative
                $0.sampleRate = 0
                $0.compression = .none
            }) { agent, collector, base in
                _ = try await URLSession.shared.data(from: base / "hello/x")
                await agent.flush()
                let first = try #require(collector.received.map(\.body.count).max())
                collector.maxBody.store(first + 1000, ordering: .relaxed)
                for letter in "abcdefgh" {
                    _ = try await URLSession.shared.data(from: base / "hello/\(letter)")
                    await agent.flush()
                }
                #expect(agent.status.ledger == .init(captured: 9, delivered: 9))
                #expect(collector.received.count { $0.status == 413 } == 1)
                #expect(Self.counts(try #require(try Self.points(of: collector).last)) == ["/hello/h": 1])
            }
        }

        @Test(arguments: BatchStoreKind.allCases)
        func eachUploadHasAllRequestsSinceTheStart(kind: BatchStoreKind) async throws {
            try await kind.withAgent({
                $0.temporality = .cumulative
                $0.sampleRate = 0
            }) { agent, collector, base in
                for path in ["hello/x", "other/y", "hello/x"] {
                    _ = try await URLSession.shared.data(from: base / path)
                    await agent.flush()
                }
                let points = try Self.points(of: collector)
                #expect(
                    points.map(Self.counts) == [
                        ["/hello/x": 1], ["/hello/x": 1, "/other/y": 1], ["/hello/x": 2, "/other/y": 1],
                    ])
                let all = points.flatMap(\.values)
                #expect(Set(all.map(\.start)).count == 1)
                // All points of an upload have the same time, even those that have not grown.
                #expect(points.map { Set($0.values.map(\.end)).count } == [1, 1, 1])
                #expect(points.compactMap { $0.values.first?.end } == Set(all.map(\.end)).sorted())
                #expect(agent.status.ledger == .init(captured: 3, delivered: 3))
            }
        }

        @Test(arguments: BatchStoreKind.allCases)
        func repeatedUploadCountsOnceAndARefusedOneNever(kind: BatchStoreKind) async throws {
            try await kind.withAgent({
                $0.temporality = .cumulative
                $0.sampleRate = 0
            }) { agent, collector, base in
                collector.answer(503, 200, 400, 200)
                _ = try await URLSession.shared.data(from: base / "hello/x")
                await agent.flush()
                await agent.flush()
                for _ in 1...2 {
                    _ = try await URLSession.shared.data(from: base / "hello/x")
                    await agent.flush()
                }
                let points = try Self.points(of: collector)
                // The third was refused, so its request is in no sum.
                #expect(points.map(Self.counts).map { $0["/hello/x"] } == [1, 1, 2, 2])
                #expect(agent.status.ledger == .init(captured: 3, delivered: 2, dropped: [.rejected: 1]))
            }
        }

        @Test func sumsDoNotDecreaseWhenABatchThatMayHaveArrivedIsDropped() async throws {
            let directory = try TemporaryFolder()
            try await withAgent({
                $0.temporality = .cumulative
                $0.sampleRate = 0
                $0.bufferDirectory = directory.url
                $0.serviceName = "shop"
            }) { agent, collector, base in
                collector.answer(200, 504)
                for path in ["hello/x", "hello/y"] {
                    for _ in 1...2 { _ = try await URLSession.shared.data(from: base / path) }
                    await agent.flush()
                }
                let service = directory.url.appendingPathComponent("shop")
                var other = try Outbox.create(instance: "other", in: service)
                var room = BufferRoom(serviceDirectory: service, limit: .max)
                let full = room.measure() + room.overhead
                room = BufferRoom(serviceDirectory: service, limit: full)
                let isThere = room.make(for: 1, own: &other)
                #expect(isThere)
                other.close()
                _ = try await URLSession.shared.data(from: base / "hello/x")
                await agent.flush()
                #expect(agent.status.ledger == .init(captured: 5, delivered: 3, dropped: [.gone: 2]))
                let points = try Self.points(of: collector)
                #expect(
                    points.map(Self.counts) == [
                        ["/hello/x": 2], ["/hello/x": 2, "/hello/y": 2], ["/hello/x": 3, "/hello/y": 2],
                    ])
            }
        }

        @Test func batchThatCannotBecomeSumsIsDropped() async throws {
            let directory = try TemporaryFolder()
            let service = directory.url.appendingPathComponent("shop")
            var dead = try Outbox.create(instance: "dead", in: service)
            let file = BatchFile(sequence: 7, signal: .metrics, requests: 3, isCompressed: false, body: [1])
            try dead.store([1], as: file)
            // Another file prevents the removal of the directory and its account.
            try Data().write(to: dead.directory.appendingPathComponent("kept"))
            dead.close()
            try await withAgent({
                $0.temporality = .cumulative
                $0.bufferDirectory = directory.url
                $0.serviceName = "shop"
            }) { agent, collector, _ in
                await agent.flush()
                #expect(!collector.received.contains { $0.batch == "dead/7/metrics" })
            }
            let account = try String(contentsOf: service.appendingPathComponent("dead/account"), encoding: .utf8)
            #expect(OutboxAccount(text: account)?.dropped == [.corrupt: 3])
        }

        @Test func partOfAnOversizedBatchHasOnlyItsOwnStreams() async throws {
            try await withAgent({
                $0.temporality = .cumulative
                $0.sampleRate = 0
            }) { agent, collector, base in
                for path in ["hello/x", "other/y"] { _ = try await URLSession.shared.data(from: base / path) }
                await agent.flush()
                // Too large with all streams, and then with only its own.
                collector.answer(413, 413)
                for path in ["hello/x", "other/y"] { _ = try await URLSession.shared.data(from: base / path) }
                await agent.flush()
                let points = try Self.points(of: collector).map(Self.counts)
                #expect(points.count == 5)
                #expect(points[0] == ["/hello/x": 1, "/other/y": 1])
                #expect(points[1...2].allSatisfy { $0 == ["/hello/x": 2, "/other/y": 2] })
                #expect(points[3...].allSatisfy { $0.count == 1 && $0.values.first == 2 })
                #expect(Set(points[3...].flatMap(\.keys)) == ["/hello/x", "/other/y"])
                #expect(agent.status.ledger == .init(captured: 4, delivered: 4))
            }
        }
    }
}
