import Fixtures
import MartletOTLP
import MartletStorage
import MartletTelemetry
import Testing

extension StorageContractTests {
    @Suite struct DuplicateBatchTests {
        private let folder: TemporaryFolder
        private let storage: any Storage
        private let batch = BatchID(instance: "i-1", sequence: 1, signal: .metrics)

        init() async throws {
            folder = try TemporaryFolder()
            storage = try await StorageContractTests.makeStore(in: folder)
        }

        private func count() async throws -> UInt64 {
            let answer = try await storage.statistics(StatisticsQuery(window: Samples.everything, by: []))
            return answer.groups.reduce(0) { $0 + $1.count }
        }

        @Test func batchSentTwiceCountsOnce() async throws {
            let metrics = [Samples.metrics(requests: 3, captured: 3, end: 10)]
            #expect(try await storage.store(metrics, of: batch) == .stored)
            #expect(try await storage.store(metrics, of: batch) == .duplicate)
            #expect(try await count() == 3)
        }

        @Test func manySimultaneousCopiesOfABatchCountOnce() async throws {
            let (storage, batch) = (storage, batch)
            let stored = try await withThrowingTaskGroup(of: StoreOutcome.self) { group in
                for _ in 0..<20 {
                    group.addTask {
                        try await storage.store([Samples.metrics(requests: 3, captured: 3, end: 10)], of: batch)
                    }
                }
                return try await group.reduce(0) { $0 + ($1 == .stored ? 1 : 0) }
            }
            #expect(stored == 1)
            #expect(try await count() == 3)
        }

        @Test func batchesDifferByInstanceSequenceAndSignal() async throws {
            let metrics = [Samples.metrics(requests: 1, captured: 1, end: 10)]
            for (instance, sequence) in [("i-1", UInt64(1)), ("i-2", 1), ("i-1", 2), ("i-1", UInt64.max)] {
                let batch = BatchID(instance: instance, sequence: sequence, signal: .metrics)
                #expect(try await storage.store(metrics, of: batch) == .stored)
            }
            let traces = BatchID(instance: "i-1", sequence: 1, signal: .traces)
            #expect(try await storage.store([DetailsBatch](), of: traces) == .stored)
            #expect(try await count() == 4)
        }

        @Test func resentPointsOfASenderWithoutBatchNumbersCountOnce() async throws {
            for (end, values, outcome) in [
                (UInt64(10), [0.2, 0.3], StoreOutcome.stored), (10, [0.2, 0.3], .duplicate), (10, [0.2, 0.4], .stored),
                (20, [0.2, 0.3], .stored), (20, [0.2, 0.3], .duplicate),
            ] {
                var resource = Samples.resource()
                resource.agent = "opentelemetry 1.38"
                let point = Samples.point(Samples.dimensions(), values, end: end)
                #expect(
                    try await storage.store([InstanceMetrics(resource: resource, points: [point])], of: nil) == outcome)
            }
            #expect(try await count() == 6)
        }

        /// Bodies of a sender without batch numbers, each with the indexes of its points in ``deltas``.
        struct Bodies: Sendable, CustomTestStringConvertible {
            let testDescription: String
            let bodies: [[Int]]
            let requests: UInt64

            init(_ description: String, _ bodies: [[Int]], requests: UInt64) {
                (testDescription, self.bodies, self.requests) = (description, bodies, requests)
            }
        }

        static let resent = [
            Bodies("equal but for an attribute that is not kept", [[0], [1]], requests: 2),
            Bodies("the same in one body", [[0, 1]], requests: 2),
            Bodies("a retry that is cut", [[0, 1, 2, 3], [0, 1], [2, 3]], requests: 5),
            Bodies("a retry that is joined", [[0], [1], [2], [0, 1, 2, 3]], requests: 5),
            Bodies("bodies that overlap", [[0, 1], [1, 3], [3, 2]], requests: 5),
            Bodies("a retry within the body", [[0, 0], [1, 0, 1]], requests: 2),
            Bodies("another order", [[1, 0, 3], [3, 0, 1]], requests: 4),
        ]

        /// Two points differ only in an attribute that is not kept.
        private static let deltas: [OTLPHistogramDataPoint] = [
            ("1.1", 10, "/orders", [0.2]), ("2", 10, "/orders", [0.2]), ("1.1", 20, "/orders", [0.2]),
            ("1.1", 10, "/other", [0.2, 0.3]),
        ].map { version, end, route, values in
            OtherMetrics.point(
                values, end: end,
                attributes: [
                    OTLPKeyValue("http.request.method", "GET"), OTLPKeyValue("http.route", route),
                    OTLPKeyValue("http.response.status_code", Int64(200)),
                    OTLPKeyValue("network.protocol.version", version),
                ])
        }

        @Test(arguments: resent)
        func deltaPointCountsOnceInWhateverBodiesItComes(resent: Bodies) async throws {
            for body in resent.bodies {
                let points = body.map { Self.deltas[$0] }
                try await OtherMetrics.send([OtherMetrics.histogram(points, .delta)], instance: "a", to: storage)
            }
            #expect(try await count() == resent.requests)
        }

        @Test func sizesThatComeAgainWithoutTheirDurationsCountOnce() async throws {
            let durations = OtherMetrics.histogram([Self.deltas[0], Self.deltas[1]], .delta)
            let sizes = OtherMetrics.histogram(
                [OtherMetrics.point([50], attributes: Self.deltas[0].attributes)], name: MetricName.serverResponseSize,
                unit: "By", .delta)
            for metrics in [[durations, sizes], [sizes], [durations]] {
                try await OtherMetrics.send(metrics, instance: "a", to: storage)
            }
            let answer = try await storage.statistics(StatisticsQuery(window: Samples.everything, by: []))
            #expect(answer.groups.map(\.count) == [2])
            #expect(answer.groups.reduce(0) { $0 + $1.statistics.bytesSent } == 50)
        }

        @Test func everyBatchWithoutAnIDIsNew() async throws {
            let metrics = [Samples.metrics(requests: 3, captured: 3, end: 10)]
            #expect(try await storage.store(metrics, of: nil) == .stored)
            #expect(try await storage.store(metrics, of: nil) == .stored)
            #expect(try await count() == 6)
        }
    }
}
