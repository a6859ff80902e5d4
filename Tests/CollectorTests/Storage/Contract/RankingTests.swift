import Fixtures
import Foundation
import MartletStorage
import MartletTelemetry
import Testing

extension StorageContractTests {
    /// The first rows of more than an answer may have.
    @Suite struct RankingTests {
        private let folder: TemporaryFolder
        private let storage: any Storage

        init() async throws {
            folder = try TemporaryFolder()
            storage = try await StorageContractTests.makeStore(in: folder, now: { Samples.time(60) })
        }

        private static let services = ["checkout", "prices", "search"]
        private static let endpoints = 7_000
        private static let window = TimeWindow(from: Samples.time(0), to: Samples.time(60))

        /// The rows that a report shows first: 20 of different services, each slower and busier than the one before.
        private static let first = (0..<20).map { ["\(services[$0 % 3])", "/\(300 * $0)"] as [String?] }

        /// Stores 21,000 rows.
        private func store() async throws {
            for service in Self.services {
                let points = (0..<Self.endpoints).map { endpoint in
                    let rank = Self.first.firstIndex(of: [service, "/\(endpoint)"])
                    let seconds = rank.map { Array(repeating: 5 * pow(1.2, Double($0)), count: $0 + 2) } ?? [0.001]
                    let failed = rank?.isMultiple(of: 2) ?? false
                    return Samples.point(
                        Samples.dimensions(
                            endpoint: "/\(endpoint)", status: failed ? 503 : 200, error: failed ? "503" : nil),
                        seconds, end: 50)
                }
                let incoming =
                    service == "checkout"
                    ? [Samples.point(Samples.dimensions(.server, endpoint: "/0"), [0.01, 0.02, 0.03], end: 50)] : []
                let metrics = InstanceMetrics(resource: Samples.resource(service), points: points + incoming)
                _ = try await storage.store([metrics], of: nil)
            }
        }

        @Test func firstRowsOfManyAreRightInEachOrder() async throws {
            try await store()
            var query = StatisticsQuery(window: Self.window, by: [.service, .endpoint], limit: 5)
            let last = Array(Self.first.reversed())
            let failing = Self.first.indices.filter { $0.isMultiple(of: 2) }.reversed().map { Self.first[$0] }
            let orders: [(GroupOrder.Measure, [[String?]])] = [
                (.impact, last), (.count, last), (.failures, failing), (.p50, last), (.p95, last), (.max, last),
            ]
            for (measure, expected) in orders {
                query.order = GroupOrder(measure)
                let answer = try await storage.statistics(query)
                #expect(answer.groups.map(\.values) == Array(expected.prefix(5)), "\(measure)")
                #expect(answer.groups.map(\.count) == expected.prefix(5).map(requests))
                #expect(answer.groups.allSatisfy { $0.quantiles([0.95])[0] ?? 0 > 5 })
                #expect(answer.groupCount == Self.services.count * Self.endpoints)
                #expect(answer.totals[.client]?.count == UInt64(Self.services.count * Self.endpoints - 20 + 230))
                #expect(answer.totals[.server]?.count == 3)
            }
        }

        @Test func firstRowsOfManyHaveSlotsAndBothKinds() async throws {
            try await store()
            var query = StatisticsQuery(window: Self.window, by: [.service, .endpoint], limit: 20)
            query.step = 30_000_000_000
            let answer = try await storage.statistics(query)
            #expect(answer.groups.map(\.values) == Self.first.reversed())
            // The row with requests of both kinds.
            #expect(answer.groups.last?.count == 5)
            #expect(answer.slots?.groups.map { $0.last?.count } == answer.groups.map(\.count))
        }

        @Test func rowsWithoutFiguresAreCountedBeyondTheLimitOfAnAnswer() async throws {
            try await store()
            var query = StatisticsQuery(window: Self.window, by: [.service, .endpoint], limit: 3)
            query.hasFigures = false
            let answers = try await storage.statistics([
                query, StatisticsQuery(window: Self.window, by: [.service, .endpoint]),
            ])
            let first = try answers[0].get()
            #expect(first.groups.map(\.values) == Array(Self.first.reversed().prefix(3)))
            #expect(first.groupCount == Self.services.count * Self.endpoints)
            #expect(throws: TooManyGroups.self) { try answers[1].get() }
        }

        private func requests(of row: [String?]) -> UInt64 {
            let rank = Self.first.firstIndex(of: row) ?? 0
            return UInt64(rank + 2) + (rank == 0 ? 3 : 0)
        }
    }
}
