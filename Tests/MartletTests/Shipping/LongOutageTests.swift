import Fixtures
import Foundation
import FoundationNetworking
import MartletOTLP
import MartletTelemetry
import SwiftProtobuf
import Testing

@testable import Martlet

extension AgentTests {
    /// A long outage of the collector: the buffer stays within its limit, keeps every count, and is delivered
    /// completely afterwards.
    @Suite struct LongOutageTests {
        @Test func outageOfHoursLosesOnlyResolution() async throws {
            try await Self.run(Outage(intervals: 400, endpoints: 5, requestsPerEndpoint: 20, limit: 128 << 10))
        }

        /// Runs with `MARTLET_TEST_OUTAGE=week`; takes minutes of CPU in a release build.
        @Test(
            .enabled(
                if: ProcessInfo.processInfo.environment["MARTLET_TEST_OUTAGE"] == "week",
                "belongs to another lane: scripts/outage.sh"))
        func outageOfAWeekFitsTheDefaultBuffer() async throws {
            try await Self.run(Outage(intervals: 7 * 8640, endpoints: 200, requestsPerEndpoint: 500, limit: 64 << 20))
        }

        struct Outage {
            var intervals: Int
            var endpoints: Int
            var requestsPerEndpoint: Int
            /// The limit of the buffer, in bytes.
            var limit: Int
        }

        private static func run(_ outage: Outage) async throws {
            let directory = try TemporaryFolder()
            let service = directory.url.appendingPathComponent("shop")
            let captured = try buffer(outage, in: service)
            try await withAgent({
                $0.bufferDirectory = directory.url
                $0.serviceName = "shop"
            }) { agent, collector, _ in
                await agent.flush()
                let posts = collector.accepted.values.filter { $0.batch?.hasPrefix("dead/") == true }
                var requests: [String: UInt64] = [:]
                for post in posts {
                    let body = try OTLPExportMetricsServiceRequest(serializedBytes: post.plainBody)
                    for point in body.resourceMetrics.flatMap(\.scopeMetrics).flatMap(\.metrics)
                        .flatMap(\.exponentialHistogram.dataPoints)
                    {
                        let endpoint = point.attributes.first { ["url.template", "http.route"].contains($0.key) }
                        requests[endpoint?.value.stringValue ?? "", default: 0] += point.count
                        #expect(point.timeUnixNano - point.startTimeUnixNano <= 3610 * 1_000_000_000)
                    }
                }
                let each = UInt64(outage.intervals * outage.requestsPerEndpoint)
                #expect(requests.count == outage.endpoints)
                #expect(requests.values.allSatisfy { $0 == each })
                #expect(requests.values.reduce(0, +) == captured)
                #expect(agent.status.bufferedBytes == 0)
            }
            #expect(directory.contents() == ["shop"])
        }

        /// Fills the buffer like an agent during the outage, without waiting for the clock. Returns the number of
        /// requests.
        private static func buffer(_ outage: Outage, in service: URL) throws -> UInt64 {
            var outbox = try Outbox.create(instance: "dead", in: service)
            var room = BufferRoom(serviceDirectory: service, limit: outage.limit)
            var sample = SampleBatch(seed: 1)
            sample.resource.instance = "dead"
            sample.endpoints = outage.endpoints
            sample.requestsPerEndpoint = outage.requestsPerEndpoint
            // A few random intervals are used repeatedly, with new times, because generating requests takes longer than
            // everything else.
            let drawn = (0..<min(12, outage.intervals)).map { _ in sample.next() }
            let interval: UInt64 = 10_000_000_000
            var (size, largest, calls, captured) = (0, 0, 0, UInt64(0))
            let cpu = Clock.threadCPU()
            var busiest: UInt64 = 0
            for number in 0..<outage.intervals {
                var batch = drawn[number % drawn.count]
                batch.start = drawn[0].start + UInt64(number) * interval
                batch.end = batch.start + interval
                captured += batch.requests
                batch.ledger = Ledger(captured: captured, waiting: captured)
                let body = try Gzip.compress(batch.otlp())
                if room.isShort(at: size + body.count) {
                    let before = Clock.threadCPU()
                    let isThere = room.make(for: body.count, own: &outbox)
                    #expect(isThere)
                    busiest = max(busiest, Clock.threadCPU() - before)
                    size = room.size
                    calls += 1
                }
                let file = BatchFile(
                    sequence: UInt64(number + 1), signal: .metrics, requests: batch.requests, isCompressed: true,
                    body: body)
                try outbox.store(body, as: file)
                try BufferRoomTests.age(file, at: batch.end / 1_000_000_000, in: outbox.directory)
                size += outbox.size(of: file)
                largest = max(largest, size)
            }
            #expect(room.size <= outage.limit)
            #expect(largest <= outage.limit)
            #expect(outbox.account == OutboxAccount())
            #expect(outbox.waiting == captured)
            #expect(sequences(of: &outbox).map { $0.count < outage.intervals } == true)
            print(
                "\(outage): \(captured) requests in \(room.size) bytes, \(outbox.batches()?.count ?? 0) batches;",
                "room was made \(calls) times, in \(busiest / 1_000_000) ms of CPU at most, all in all",
                "\((Clock.threadCPU() - cpu) / 1_000_000) ms")
            return captured
        }
    }
}
