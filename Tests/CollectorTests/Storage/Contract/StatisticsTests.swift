import Fixtures
import MartletStorage
import MartletTelemetry
import Testing

extension StorageContractTests {
    @Suite struct StatisticsTests {
        private let folder: TemporaryFolder
        private let storage: any Storage

        init() async throws {
            folder = try TemporaryFolder()
            storage = try await StorageContractTests.makeStore(in: folder)
        }

        private func store(_ points: [RequestPoint], from resource: TelemetryResource = Samples.resource()) async throws
        {
            _ = try await storage.store([InstanceMetrics(resource: resource, points: points)], of: nil)
        }

        private func counts(
            by: [Dimension], filter: RequestFilter = RequestFilter(), window: TimeWindow = Samples.everything
        ) async throws -> [[String?]: UInt64] {
            let answer = try await storage.statistics(StatisticsQuery(window: window, filter: filter, by: by))
            return answer.groups.reduce(into: [:]) { $0[$1.values, default: 0] += $1.count }
        }

        @Test func pointsOfASeriesMergeExactly() async throws {
            var first = Samples.statistics([0.1, 0.2, 4], sent: 10, received: 1)
            first.phases = Samples.phases([.queue: (3, 0.5), .tls: (1, 0.25)])
            var second = Samples.statistics([0.15, 0.0001], sent: 5, received: 2)
            second.phases = Samples.phases([.queue: (2, 0.125)])
            var expected = first
            expected.merge(second)
            for (statistics, end) in [(first, UInt64(10)), (second, 20)] {
                let point = RequestPoint(
                    dimensions: Samples.dimensions(), start: Samples.time(end - 10), end: Samples.time(end),
                    statistics: statistics)
                try await store([point])
            }
            let answer = try await storage.statistics(StatisticsQuery(window: Samples.everything, by: [.host]))
            var group = Samples.group(["api.example.com:443"], [(Samples.dimensions(), expected)])
            group.ends = Samples.time(10)...Samples.time(20)
            #expect(answer.groups == [group])
        }

        @Test func failuresAreSeparateAndEveryOutcomeIsCounted() async throws {
            try await store([
                Samples.point(Samples.dimensions(), [0.125, 0.25]),
                Samples.point(Samples.dimensions(status: 404, error: "404"), [0.75]),
                Samples.point(Samples.dimensions(.server, status: 404, error: "404"), [0.5]),
                Samples.point(Samples.dimensions(status: nil, error: "hung"), [64, 64, 64]),
            ])
            let answer = try await storage.statistics(StatisticsQuery(window: Samples.everything, by: [.service]))
            let group = try #require(answer.groups.first)
            #expect(answer.groups.count == 1)
            #expect(group.succeeded == Samples.statistics([0.125, 0.25, 0.5]))
            #expect(group.failed == Samples.statistics([0.75, 64, 64, 64]))
            #expect(RequestOutcome.allCases.map { group.outcomes[$0] } == [2, 0, 2, 0, 3, 0])
            #expect(group.fromSpans == 0)
        }

        @Test func bothSpellingsOfAServiceAreCounted() async throws {
            for (service, endpoint) in [("caf\u{e9}", "/composed"), ("cafe\u{301}", "/decomposed")] {
                let point = Samples.point(Samples.dimensions(endpoint: endpoint), [1])
                try await store([point], from: Samples.resource(service))
            }
            #expect(try await counts(by: [.endpoint]) == [["/composed"]: 1, ["/decomposed"]: 1])
        }

        @Test func pointBelongsToTheWindowThatItEndsIn() async throws {
            try await store([Samples.point(Samples.dimensions(), [1], end: 10)])
            try await store([Samples.point(Samples.dimensions(), [1, 1], end: 20)])
            func count(_ from: UInt64, _ to: UInt64) async throws -> UInt64? {
                try await counts(by: [], window: TimeWindow(from: Samples.time(from), to: Samples.time(to)))[[]]
            }
            #expect(try await count(0, 10) == 1)
            #expect(try await count(10, 20) == 2)
            #expect(try await count(9, 20) == 3)
            #expect(try await count(20, 30) == nil)
        }

        @Test func groupsHaveTheRequestedDimensions() async throws {
            try await store([
                Samples.point(Samples.dimensions(), [1, 1]),
                Samples.point(Samples.dimensions(.server, endpoint: "/a"), [1]),
                Samples.point(Samples.dimensions(status: nil, error: "timeout"), [1]),
            ])
            try await store([Samples.point(Samples.dimensions(), [1])], from: Samples.resource("cart", instance: "i-2"))
            #expect(try await counts(by: [.service]) == [["checkout"]: 4, ["cart"]: 1])
            #expect(
                try await counts(by: [.kind, .endpoint]) == [["client", "/users/{id}"]: 4, ["server", "/a"]: 1])
            #expect(try await counts(by: [.status, .error]) == [["200", nil]: 4, [nil, "timeout"]: 1])
            #expect(try await counts(by: [.instance, .version]) == [["i-1", "1.2"]: 4, ["i-2", "1.2"]: 1])
        }

        @Test func filtersLeaveOutTheRest() async throws {
            try await store([
                Samples.point(Samples.dimensions(), [1, 1]),
                Samples.point(Samples.dimensions(.server, endpoint: "/a"), [1]),
                Samples.point(Samples.dimensions(status: 503, error: "503"), [1, 1, 1]),
            ])
            let cases: [([Dimension: Set<String>], UInt64?)] = [
                ([.service: ["checkout"]], 6), ([.service: ["cart"]], nil), ([.service: ["cart", "checkout"]], 6),
                ([.environment: ["test"]], 6), ([.environment: ["production"]], nil), ([.environment: [""]], nil),
                ([.version: ["1.2"]], 6), ([.version: ["1.3"]], nil), ([.instance: ["i-1"]], 6),
                ([.kind: ["server"]], 1), ([.kind: ["server", "client"]], 6), ([.method: ["GET"]], 6),
                ([.method: ["POST"]], nil), ([.host: ["api.example.com"]], 6), ([.host: ["api.example.com:443"]], 6),
                ([.host: ["API.Example.com"]], 6), ([.host: ["api.example.com:80"]], nil), ([.endpoint: ["/a"]], 1),
                ([.status: ["5xx"]], 3),
                ([.status: ["5XX", "200"]], 6), ([.status: ["200"]], 3), ([.status: [""]], nil), ([.error: ["503"]], 3),
                ([.error: [""]], 3), ([.error: ["503"], .service: ["checkout"], .kind: ["server"]], nil),
            ]
            for (wanted, expected) in cases {
                #expect(try await counts(by: [], filter: RequestFilter(wanted))[[]] == expected, "\(wanted)")
            }
        }

        @Test func namesAreNeverRunAsSQL() async throws {
            let hostile = "'); DROP TABLE point; --\u{1b}[31m\"\u{202e}é"
            try await store(
                [Samples.point(Samples.dimensions(endpoint: hostile), [1])], from: Samples.resource(hostile))
            #expect(try await counts(by: [.service, .endpoint]) == [[hostile, hostile]: 1])
            #expect(
                try await counts(by: [], filter: RequestFilter([.service: [hostile], .endpoint: [hostile]])) == [[]: 1])
        }
    }
}
