import Fixtures
import MartletOTLP
import MartletReports
import MartletStorage
import MartletTelemetry
import Testing

extension StorageContractTests {
    /// Calls of databases, message brokers and procedures, from spans and metrics of other SDKs.
    @Suite struct SystemCallTests {
        private let folder: TemporaryFolder
        private let storage: any Storage

        init() async throws {
            folder = try TemporaryFolder()
            storage = try await StorageContractTests.makeStore(in: folder)
        }

        private typealias Span = SystemSpans.Span

        /// Returns the counts by system, method, host and endpoint; `http` for no system.
        private func counts(to window: TimeWindow = Samples.everything) async throws -> [String: UInt64] {
            let query = StatisticsQuery(window: window, by: [.system, .method, .host, .endpoint])
            return try await storage.statistics(query).groups.reduce(into: [:]) { counts, group in
                counts[
                    ([group.values[0] ?? "http"] + group.values.dropFirst().map { $0 ?? "" }).joined(separator: " ")] =
                    group.count
            }
        }

        @Test func callsOfEachSystemAreRows() async throws {
            let calls = [
                SystemSpans.psycopg(), SystemSpans.valkey, SystemSpans.redis, SystemSpans.producer,
                SystemSpans.elasticsearch, SystemSpans.http(), SystemSpans.grpc(),
            ]
            try await SystemSpans.send(
                calls.enumerated().map { Span(number: UInt8($0 + 1), call: $1) }, to: storage)
            #expect(
                try await counts() == [
                    "postgresql SELECT db.internal:5432 SELECT name FROM users WHERE id = ?": 1,
                    "valkey GET cache.internal:6379 GET": 1, "redis GET cache.internal:6379 GET": 1,
                    "kafka send broker.internal:9092 orders": 1, "elasticsearch search search.internal:9200 search": 1,
                    "http POST search.internal:9200 {unknown}": 1,
                    "grpc POST orders.internal:50051 shop.Orders/Place": 1,
                ])
            let kept = try await storage.requests(RequestsQuery(window: Samples.everything, limit: 10)).requests
            #expect(kept.count == 7)
            #expect(kept.allSatisfy { !"\($0.span)".contains("secret") && !"\($0.span)".contains("user:42") })
        }

        @Test func spansOfConsumersAndSpansWithoutASystemAreNotCounted() async throws {
            var consumer = SystemSpans.producer
            consumer.kind = .consumer
            var unnamed = SystemSpans.psycopg()
            unnamed.attributes.removeAll { $0.name == "db.system" }
            var uncounted = SystemSpans.psycopg()
            uncounted.attributes.append(("martlet.counted", .boolean(false)))
            try await SystemSpans.send(
                [consumer, unnamed, uncounted].enumerated().map { Span(number: UInt8($0 + 1), call: $1) }, to: storage)
            #expect(try await counts().isEmpty)
        }

        // MARK: Spans within each other

        struct Case: Sendable, CustomTestStringConvertible {
            var testDescription: String
            var spans: [SystemSpans.Span]
            /// The positions of the spans in each body, from 1.
            var bodies: [[Int]]
            /// The requests by system.
            var counted: [String: UInt64]
        }

        private static let layers = [
            Span(number: 1, call: SystemSpans.sqlalchemy), Span(number: 2, parent: 1, call: SystemSpans.psycopg()),
        ]
        private static let transaction =
            [Span(number: 1, call: SystemSpans.psycopg("BEGIN"))]
            + (2...4).map { Span(number: $0, parent: 1, call: SystemSpans.psycopg()) }

        static let cases = [
            Case(
                testDescription: "a mapper around its driver", spans: layers, bodies: [[1, 2]],
                counted: ["postgresql": 1]),
            Case(
                testDescription: "the driver in an earlier body", spans: layers, bodies: [[2], [1]],
                counted: ["postgresql": 1]),
            Case(
                testDescription: "the mapper in an earlier body", spans: layers, bodies: [[1], [2]],
                counted: ["postgresql": 1]),
            Case(
                testDescription: "sent twice", spans: layers, bodies: [[2], [1, 2], [1]], counted: ["postgresql": 1]),
            Case(
                testDescription: "a transaction around three statements", spans: transaction, bodies: [[2, 3, 4, 1]],
                counted: ["postgresql": 3]),
            Case(
                testDescription: "a transaction that ends in a later body", spans: transaction,
                bodies: [[2], [3, 4], [1]], counted: ["postgresql": 3]),
            Case(
                testDescription: "statements that end after their transaction", spans: transaction,
                bodies: [[2, 1], [3, 4]], counted: ["postgresql": 3]),
            Case(
                testDescription: "an HTTP request within a call of a search engine",
                spans: [
                    Span(number: 1, call: SystemSpans.elasticsearch),
                    Span(number: 2, parent: 1, call: SystemSpans.http()),
                ], bodies: [[1, 2]], counted: ["elasticsearch": 1, "http": 1]),
            Case(
                testDescription: "a call of a cache within a call of a database",
                spans: [
                    Span(number: 1, call: SystemSpans.psycopg()), Span(number: 2, parent: 1, call: SystemSpans.valkey),
                ], bodies: [[2, 1]], counted: ["postgresql": 1, "valkey": 1]),
            Case(
                testDescription: "two servers of one system",
                spans: [
                    Span(number: 1, call: SystemSpans.psycopg()),
                    Span(
                        number: 2, parent: 1,
                        call: SystemSpans.psycopg().adding([("server.address", .string("other.internal"))])),
                ], bodies: [[1, 2]], counted: ["postgresql": 2]),
            Case(
                testDescription: "a procedure around another one",
                spans: [
                    Span(number: 1, call: SystemSpans.grpc(.server)),
                    Span(
                        number: 2, parent: 1,
                        call: {
                            var call = SystemSpans.grpc(.server)
                            call.attributes.removeAll { $0.name == "rpc.method" }
                            return call.adding([("rpc.method", .string("Cancel"))])
                        }()),
                ], bodies: [[1, 2]], counted: ["grpc": 2]),
        ]

        @Test(arguments: cases) func nestedSpansCountOncePerCall(example: Case) async throws {
            for body in example.bodies {
                try await SystemSpans.send(body.map { example.spans[$0 - 1] }, to: storage)
            }
            let query = StatisticsQuery(window: Samples.everything, by: [.system])
            let groups = try await storage.statistics(query).groups
            let counted = groups.map { ($0.values[0] ?? "http", $0.count) }
            #expect(Dictionary(uniqueKeysWithValues: counted) == example.counted)
        }

        // MARK: Metrics and spans

        private func metric(_ name: String, _ attributes: [(String, SpanAttribute)], count: Int = 3) -> OTLPMetric {
            OtherMetrics.histogram(
                [
                    OtherMetrics.point(
                        Array(repeating: 0.25, count: count), attributes: attributes.map(SystemSpans.attribute))
                ], name: name, .delta)
        }

        private var databaseMetric: OTLPMetric {
            metric(
                MetricName.databaseDuration,
                [
                    ("db.system.name", .string("postgresql")), ("db.operation.name", .string("SELECT")),
                    ("db.query.summary", .string("SELECT users")), ("server.address", .string("db.internal")),
                    ("server.port", .integer(5432)),
                ])
        }

        private var httpMetric: OTLPMetric {
            metric(
                MetricName.clientDuration,
                [
                    ("http.request.method", .string("POST")), ("server.address", .string("search.internal")),
                    ("server.port", .integer(9200)), ("http.response.status_code", .integer(200)),
                ])
        }

        private func sendSpans(failed: Bool = false) async throws {
            var query = SystemSpans.psycopg()
            query.isError = failed
            try await SystemSpans.send(
                [
                    Span(number: 1, call: query), Span(number: 2, call: SystemSpans.valkey),
                    Span(number: 3, call: SystemSpans.http()),
                ], to: storage)
        }

        private func countsBySystem() async throws -> [String: [UInt64]] {
            let query = StatisticsQuery(window: Samples.everything, by: [.system])
            return try await storage.statistics(query).groups.reduce(into: [:]) {
                $0[$1.values[0] ?? "http"] = [$1.count, $1.fromSpans]
            }
        }

        @Test func metricsOfHTTPDoNotReplaceSpansOfDatabases() async throws {
            try await sendSpans()
            try await OtherMetrics.send([httpMetric], instance: "s-1", to: storage)
            #expect(try await countsBySystem() == ["postgresql": [1, 1], "valkey": [1, 1], "http": [3, 0]])
        }

        @Test(arguments: [false, true]) func metricsOfADatabaseReplaceItsSpans(failed: Bool) async throws {
            try await sendSpans(failed: failed)
            try await OtherMetrics.send([databaseMetric], instance: "s-1", to: storage)
            #expect(try await countsBySystem() == ["postgresql": [3, 0], "valkey": [1, 1], "http": [1, 1]])
            #expect(try await counts()["postgresql SELECT db.internal:5432 SELECT users"] == 3)
        }

        @Test func metricOfAnUnnamedSystemIsCounted() async throws {
            try await OtherMetrics.send(
                [metric(MetricName.databaseDuration, []), metric(MetricName.messagingDuration, [])], instance: "s-1",
                to: storage)
            #expect(try await counts() == ["_OTHER _OTHER  {unknown}": 6])
        }

        @Test func metricOfAMessageBrokerIsCounted() async throws {
            let sent = metric(
                MetricName.messagingDuration,
                [
                    ("messaging.system", .string("kafka")), ("messaging.operation.name", .string("send")),
                    ("messaging.destination.name", .string("orders")), ("error.type", .string("timeout")),
                ])
            try await OtherMetrics.send([sent], instance: "s-1", to: storage)
            #expect(try await counts() == ["kafka send  orders": 3])
            let query = StatisticsQuery(window: Samples.everything, by: [.error])
            #expect(try await storage.statistics(query).groups.map(\.failedCount) == [3])
        }

        @Test func reportGroupsAndFiltersBySystem() async throws {
            try await sendSpans()
            let filter = RequestFilter([.system: ["postgresql"], .kind: ["client"]])
            let query = StatisticsQuery(window: Samples.everything, filter: filter, by: [.system, .endpoint])
            let report = Report(try await storage.statistics(query), for: query)
            #expect(report.rows.map { $0.text(of: .system) } == ["postgresql"])
            let none = StatisticsQuery(
                window: Samples.everything, filter: RequestFilter([.system: [""]]), by: [.endpoint])
            #expect(try await storage.statistics(none).groups.map(\.count) == [1])
        }
    }
}
