import MartletTelemetry
import Testing
import Tracing

@testable import Martlet

extension AgentTests {
    /// Spans that are calls of databases and message brokers.
    @Suite struct SystemSpanTests {
        private let tracer = MartletTracer()

        /// Makes a span as valkey-swift 1 does. It leaves the default port out.
        private func valkey(_ command: String, batch: Int? = nil, error: String? = nil) {
            let span = tracer.startSpan(batch == nil ? command : "Pipeline", ofKind: .client)
            span.updateAttributes {
                $0["db.system.name"] = "valkey"
                $0["network.peer.address"] = "10.0.0.7"
                $0["network.peer.port"] = 6379
                $0["server.address"] = SpanFixture.host
                $0["server.port"] = nil as Int?
                $0["db.operation.name"] = command
                if let batch { $0["db.operation.batch.size"] = batch }
            }
            if let error {
                span.recordError(Broken.badly)
                span.setStatus(SpanStatus(code: .error))
                span.attributes["db.response.status_code"] = "\(error)"
            }
            span.end()
        }

        /// Makes a span as PostgresNIO's tracing does (pull request 639).
        private func postgres(
            _ text: String? = nil, name: String = "shop", operation: String? = nil, summary: String? = nil,
            table: String? = nil, state: String? = nil, within context: ServiceContext = .topLevel
        ) {
            let span = tracer.startSpan(name, context: context, ofKind: .client)
            span.attributes = Self.connection
            span.updateAttributes {
                $0["db.operation.name"] = operation
                $0["db.query.summary"] = summary
                $0["db.collection.name"] = table
                $0["db.query.text"] = text
            }
            if let state {
                span.updateAttributes {
                    $0["db.response.status_code"] = state
                    $0["error.type"] = state
                }
                span.recordError(Broken.badly)
                span.setStatus(SpanStatus(code: .error))
            }
            span.end()
        }

        private static let connection: SpanAttributes = [
            "db.system.name": "postgresql", "db.system": "postgresql", "db.namespace": "shop",
            "server.address": .string(SpanFixture.host), "server.port": 5432,
            "network.peer.address": .string(SpanFixture.host), "network.peer.port": 5432,
        ]

        /// `system conventions host:port` of each row.
        private func systems(_ found: SpanFixture) -> Set<String> {
            Set(found.requests.keys.map { "\($0.system ?? "-") \($0.conventions) \($0.host):\($0.port)" })
        }

        @Test func commandsOfValkeyAreCountedAtAnySampleRate() async throws {
            let found = await recorded({ $0.sampleRate = 0 }) {
                for _ in 0..<50 { valkey("GET") }
                valkey("GET", error: "ERR")
                valkey("GET,SET", batch: 2)
            }
            #expect(
                found.counts == [
                    "client GET GET - - 50", "client GET GET - ERR 1", "client GET,SET GET,SET - - 1",
                ])
            #expect(systems(found) == ["valkey database spans.example:0"])
            // A failure is kept without being sampled.
            let kept = try #require(found.spans.first)
            #expect(found.spans.count == 1 && kept.isError && kept.name == "GET")
        }

        @Test func statementsOfPostgresAreCountedByShape() async throws {
            let found = await recorded({ $0.sampleRate = 0 }) {
                for _ in 0..<3 { postgres("SELECT * FROM public.users WHERE id = $1") }
                postgres("SELECT * FROM public.users WHERE id = 42", state: "08P01")
                postgres("COPY \"users\" FROM STDIN", operation: "COPY", table: "users")
                postgres(name: "PREPARE", operation: "PREPARE", summary: "PREPARE")
                // Without bind values the text is not attached.
                postgres()
            }
            #expect(
                found.counts == [
                    "client COPY COPY users - - 1", "client PREPARE PREPARE - - 1",
                    "client SELECT SELECT * FROM public.users WHERE id = ? - - 3",
                    "client SELECT SELECT * FROM public.users WHERE id = ? - 08P01 1",
                    "client _OTHER {unknown} - - 1",
                ])
            #expect(systems(found) == ["postgresql database spans.example:5432"])
        }

        @Test func transactionIsASpanAndItsStatementsAreCounted() async throws {
            let found = await recorded {
                let transaction = tracer.startSpan("postgres.transaction", ofKind: .internal)
                transaction.attributes = Self.connection
                for text in ["BEGIN;", "SELECT 1;", "COMMIT;"] { postgres(text, within: transaction.context) }
                transaction.end()
            }
            #expect(
                found.counts == [
                    "client BEGIN BEGIN - - 1", "client COMMIT COMMIT - - 1", "client SELECT SELECT ? - - 1",
                ])
            let parent = try #require(found.span("postgres.transaction"))
            #expect(parent.request == nil && found.spans.filter { $0.parentSpanID == parent.spanID }.count == 3)
        }

        @Test func longListsHaveTheShapeOfShortOnes() async {
            let found = await recorded {
                for count in [1, 10, 5_000] {
                    let list = (1...count).map(String.init).joined(separator: ", ")
                    postgres("SELECT a FROM t WHERE b IN (\(list)) AND c = 1")
                }
            }
            #expect(found.counts == ["client SELECT SELECT a FROM t WHERE b IN (?) AND c = ? - - 3"])
            let kept = found.spans.map { $0.attributes["db.query.text"] }
            #expect(Set(kept) == [.string("SELECT a FROM t WHERE b IN (?) AND c = ?")])
        }

        @Test func keptStatementHasNoValues() async throws {
            let found = await recorded {
                let span = tracer.startSpan("SELECT 'ada@example.com'", ofKind: .client)
                span.attributes = Self.connection
                span.attributes["db.query.text"] = "SELECT name FROM users WHERE mail = 'ada@example.com'"
                span.attributes["db.statement"] = "SELECT name FROM users WHERE mail = 'ada@example.com'"
                span.attributes["db.query.parameter.0"] = "ada@example.com"
                span.end()
            }
            let kept = try #require(found.spans.first)
            #expect(!"\(kept)".contains("ada@"))
            #expect(kept.name == "SELECT name FROM users WHERE mail = ?")
            #expect(kept.request?.system == "postgresql")
            #expect(
                kept.attributes == [
                    "db.namespace": .string("shop"), "network.peer.address": .string(SpanFixture.host),
                    "network.peer.port": .integer(5432),
                    "db.query.text": .string("SELECT name FROM users WHERE mail = ?"),
                    "db.statement": .string("SELECT name FROM users WHERE mail = ?"),
                ])
        }

        @Test func statementInAnEventIsOneOfTheSpansSystem() async throws {
            let found = await recorded {
                let span = tracer.startSpan("SET", ofKind: .client)
                span.attributes = ["db.system.name": "valkey", "server.address": .string(SpanFixture.host)]
                span.addEvent(.init(name: "sent", attributes: ["db.query.text": "SET user_42 ada"]))
                span.end()
            }
            let event = try #require(found.spans.first?.events.first)
            #expect(event.attributes == ["db.query.text": .string("SET")])
        }

        @Test func messagesAreCountedWhenTheyAreSentAndFetched() async throws {
            let found = await recorded({ $0.sampleRate = 0 }) {
                let broker: SpanAttributes = [
                    "messaging.system": "kafka", "messaging.destination.name": "orders",
                    "server.address": .string(SpanFixture.host), "server.port": 9092,
                ]
                for kind in [SpanKind.producer, .client, .consumer, .internal, .server] {
                    span(kind, broker.merging(["messaging.operation.name": kind == .client ? "poll" : "send"]))
                }
                span(.producer, broker, error: Broken.badly, status: SpanStatus(code: .error))
            }
            #expect(
                found.counts.filter { !$0.contains(" - - ") }.allSatisfy { $0.hasPrefix("client send orders - ") })
            #expect(
                found.counts.filter { $0.contains(" - - ") } == [
                    "client poll orders - - 1", "client send orders - - 1",
                ])
            #expect(systems(found) == ["kafka messaging spans.example:9092"])
        }

        @Test func keptMessageHasItsDestinationAndAName() async throws {
            let found = await recorded {
                let span = tracer.startSpan("send", ofKind: .producer)
                span.attributes = [
                    "messaging.system": "jms", "messaging.destination.name": "shop/42",
                    "messaging.destination.template": "shop/{id}", "server.address": .string(SpanFixture.host),
                ]
                span.end()
            }
            let kept = try #require(found.spans.first)
            #expect(kept.name == "send shop/{id}" && kept.kind == .producer)
            #expect(kept.attributes == ["messaging.destination.name": .string("shop/42")])
        }

        // MARK: One call, one count

        @Test func callWithinACallOfTheSameSystemIsCountedOnce() async throws {
            let found = await recorded {
                let outer = tracer.startSpan("SELECT 'ada'", ofKind: .client)
                outer.attributes = Self.connection.merging([
                    "db.statement": "SELECT 'ada' FROM t", "db.operation": "SELECT 'ada' FROM t",
                ])
                postgres("SELECT 'ada' FROM t", within: outer.context)
                outer.end()
            }
            #expect(found.counts == ["client SELECT SELECT ? FROM t - - 1"])
            let outer = try #require(found.spans.first { $0.request == nil })
            #expect(outer.attributes["martlet.counted"] == .boolean(false) && outer.name == "SELECT postgresql")
            #expect(!"\(found.spans)".contains("'ada'"))
        }

        @Test func callAndTheHTTPRequestWithinItAreTwoRows() async {
            let found = await recorded {
                let search = tracer.startSpan("search", ofKind: .client)
                search.attributes = [
                    "db.system.name": "elasticsearch", "db.operation.name": "search", "http.request.method": "POST",
                    "server.address": .string(SpanFixture.host),
                ]
                tracer.request("/users", within: search.context)
                search.end()
            }
            #expect(found.counts == ["client GET /users 200 - 1", "client search search - - 1"])
        }

        @Test func requestAroundACallIsCounted() async {
            let found = await recorded {
                tracer.request { span in postgres("SELECT 1", within: span.context) }
            }
            #expect(found.counts == ["client GET /users/{id} 200 - 1", "client SELECT SELECT ? - - 1"])
        }

        @Test func everyLayerOfAnSDKCountsOnceForItsSystem() async {
            let found = await recorded {
                let call = tracer.startSpan("DynamoDB/GetItem", ofKind: .client)
                call.attributes = ["rpc.system": "aws-api", "rpc.service": "DynamoDB", "rpc.method": "GetItem"]
                let database = tracer.startSpan("GetItem", context: call.context, ofKind: .client)
                database.attributes = [
                    "db.system": "dynamodb", "db.operation": "GetItem", "net.peer.name": .string(SpanFixture.host),
                ]
                tracer.request("/", within: database.context)
                database.end()
                call.end()
            }
            #expect(found.counts == ["client GET / 200 - 1", "client GetItem GetItem - - 1"])
        }

        @Test func sendingAroundAClientOfTheSameBrokerIsCountedOnce() async {
            let found = await recorded {
                let broker: SpanAttributes = [
                    "messaging.system": "kafka", "messaging.destination.name": "orders",
                    "server.address": .string(SpanFixture.host),
                ]
                let outer = tracer.startSpan("send", ofKind: .producer)
                outer.attributes = broker
                let inner = tracer.startSpan("publish", context: outer.context, ofKind: .client)
                inner.attributes = broker.merging(["messaging.operation.name": "publish"])
                inner.end()
                outer.end()
            }
            #expect(found.counts == ["client publish orders - - 1"])
        }

        // MARK: Configuration

        @Test func patternsAndClosuresApplyByServer() async {
            let seen = Lock<Set<String>>([])
            let found = await recorded({
                $0.exclude = ["spans.example:5432/*"]
                $0.name = { _ in "named" }
                $0.ignore = { target in
                    seen.withLock { _ = $0.insert("\(target.method) \(target.host):\(target.port)\(target.path)") }
                    return target.method == "DEL"
                }
            }) {
                postgres("SELECT 1")
                valkey("GET")
                valkey("DEL")
            }
            #expect(found.counts == ["client GET GET - - 1"])
            #expect(seen.withLock { $0 } == ["GET spans.example:0/", "DEL spans.example:0/"])
        }

        @Test func spanMarkedOKIsASuccess() async {
            let found = await recorded {
                span(
                    .client, Self.connection.merging(["db.operation.name": "SELECT", "error.type": "57014"]),
                    error: Broken.badly, status: SpanStatus(code: .ok))
            }
            #expect(found.counts == ["client SELECT SELECT - - 1"])
        }

        @Test func manyStatementsTakeNoNameFromRequests() async {
            let found = await recorded({ $0.maxEndpoints = 3 }) {
                for number in 0..<20 {
                    postgres("SELECT a FROM t_\(number)", operation: "op \(number)")
                }
                for path in ["users", "orders", "items"] { tracer.request("/\(path)") }
            }
            let databases = found.requests.filter { $0.key.system != nil }
            #expect(databases.count == 4)
            #expect(databases.first { $0.key.endpoint == "{other}" }?.key.method == "_OTHER")
            #expect(databases.values.reduce(0, +) == 20)
            #expect(found.counts.filter { $0.contains(" GET ") }.count == 3)
        }
    }
}

extension SpanAttributes {
    fileprivate func merging(_ other: SpanAttributes) -> SpanAttributes {
        var all = self
        all.merge(other)
        return all
    }
}
