import MartletOTLP
import MartletTelemetry
import Testing

@Suite struct SystemSpanAttributesTests {
    private func read(
        _ attributes: [String: SpanAttribute], of kind: SpanRecord.Kind = .client
    ) -> SystemSpanAttributes? {
        SystemSpanAttributes(kind) { attributes[$0] }
    }

    private func text(_ attributes: [String: String]) -> [String: SpanAttribute] {
        attributes.mapValues { .string($0) }
    }

    private static let sql = "select name from users where email = 'ada@example.com'"

    @Test(arguments: [
        (["db.system.name": "valkey", "db.operation.name": "GET"], "GET", "GET"),
        (["db.system": "redis", "db.statement": "set user:42 ada"], "SET", "SET"),
        (["db.system.name": "postgresql", "db.query.text": sql], "SELECT", "select name from users where email = ?"),
        (
            ["db.system": "postgresql", "db.operation": "SELECT", "db.sql.table": "users", "db.statement": sql],
            "SELECT", "SELECT users"
        ),
        (
            ["db.system.name": "postgresql", "db.query.summary": "SELECT users", "db.query.text": sql], "SELECT",
            "SELECT users"
        ),
        (
            ["db.system.name": "postgresql", "db.query.summary": "SELECT users id = 'ada'"], "SELECT",
            "SELECT users id = ?"
        ),
        (
            ["db.system.name": "postgresql", "db.operation.name": "COPY", "db.collection.name": "users"], "COPY",
            "COPY users"
        ),
        (["db.system.name": "postgresql", "db.operation": sql], "SELECT", "SELECT"),
        (["db.system.name": "postgresql", "db.operation.name": "select"], "SELECT", "SELECT"),
        (
            ["db.system": "postgresql", "db.operation": "select shop", "db.statement": sql], "SELECT",
            "select name from users where email = ?"
        ),
        (["db.system": "postgresql", "db.operation": "\n select\nname from users limit 42"], "SELECT", "SELECT"),
        (["db.system": "mongodb", "db.operation": "delete"], "delete", "delete"),
        (["db.system": "redis", "db.operation": "get"], "GET", "GET"),
        (["db.system.name": "postgresql", "db.namespace": "shop"], "_OTHER", "{unknown}"),
        (["db.system.name": "postgresql", "db.collection.name": "users"], "_OTHER", "users"),
        (["db.system": "mongodb", "db.operation": "find", "db.mongodb.collection": "users"], "find", "find users"),
        (["db.system": "mongodb", "db.operation": "find", "db.statement": "{\"find\": \"ada\"}"], "find", "find"),
        (
            ["db.system": "elasticsearch", "http.request.method": "POST", "db.operation.name": "search"], "search",
            "search"
        ),
        (
            [
                "messaging.system": "kafka", "messaging.operation.name": "publish",
                "messaging.destination.name": "orders",
            ], "publish", "orders"
        ),
        (
            ["messaging.system": "kafka", "messaging.operation": "publish", "messaging.destination": "orders"],
            "publish", "orders"
        ),
        (
            ["messaging.system": "aws_sqs", "messaging.operation.type": "receive", "http.method": "POST"], "receive",
            "{unknown}"
        ),
        (
            [
                "messaging.system": "jms", "messaging.destination.name": "a/42",
                "messaging.destination.template": "a/{id}",
            ], "_OTHER", "a/{id}"
        ),
    ])
    func callsHaveOperationsAndEndpoints(attributes: [String: String], operation: String, endpoint: String) throws {
        let call = try #require(read(text(attributes)))
        #expect(call.operation == operation && call.endpoint == endpoint)
        let isMessaging = attributes["messaging.system"] != nil
        #expect(call.conventions == (isMessaging ? .messaging : .database))
        #expect(
            call.system == attributes["db.system.name"] ?? attributes["db.system"] ?? attributes["messaging.system"])
    }

    @Test func onlyClientsAndProducersCall() {
        for kind in SpanRecord.Kind.allCases {
            #expect((read(["db.system.name": .string("mysql")], of: kind) != nil) == (kind == .client))
            let isCall = kind == .client || kind == .producer
            #expect((read(["messaging.system": .string("kafka")], of: kind) != nil) == isCall)
        }
        #expect(read(["messaging.system": .string("kafka")], of: .producer)?.operation == "send")
        #expect(read(["db.system": .string("mysql"), "martlet.counted": .boolean(false)]) == nil)
        #expect(read(["http.request.method": .string("GET"), "db.system": .string("")]) == nil)
    }

    @Test func temporaryDestinationsHaveNoName() {
        let attributes = text(["messaging.system": "rabbitmq", "messaging.destination.name": "amq.gen-42"])
        let endpoint = { flag in read(attributes.merging([flag: .boolean(true)]) { $1 }, of: .producer)?.endpoint }
        #expect(endpoint("messaging.destination.temporary") == "{unknown}")
        #expect(endpoint("messaging.destination.anonymous") == "{unknown}")
        // Instruments of RabbitMQ for Python set it for every message.
        #expect(endpoint("messaging.temp_destination") == "amq.gen-42")
    }

    @Test(
        arguments: [
            (
                ["server.address": "db", "server.port": 5433, "net.peer.name": "old", "network.peer.port": 1], "db",
                5433
            ),
            (["server.address": "db", "network.peer.address": "10.0.0.1", "network.peer.port": 6379], "db", nil),
            (["net.peer.name": "db", "net.peer.port": "3306"], "db", 3306),
            (["net.peer.ip": "10.0.0.1", "net.peer.port": 3306], "10.0.0.1", 3306),
            (["network.peer.address": "10.0.0.1", "network.peer.port": 6379], "10.0.0.1", 6379), ([:], nil, nil),
        ] as [([String: any Sendable], String?, Int?)])
    func theServerIsTheFirstThatHasAName(attributes: [String: any Sendable], host: String?, port: Int?) throws {
        let server = attributes.mapValues { value in
            (value as? Int).map { SpanAttribute.integer(Int64($0)) } ?? .string("\(value)")
        }
        let call = try #require(read(server.merging(["db.system.name": .string("mysql")]) { $1 }))
        #expect(call.host == host && call.port == port)
    }

    @Test func aStatusIsAnErrorOnlyOfAFailedSpan() throws {
        let call = try #require(read(text(["db.system.name": "mysql", "db.response.status_code": "1146"])))
        #expect(call.error(isError: false, exception: nil) == nil)
        #expect(call.error(isError: true, exception: "Lost") == "1146")
        let number = try #require(
            read(["db.system.name": .string("mysql"), "db.response.status_code": .integer(1146)]))
        #expect(number.error(isError: true, exception: nil) == "1146")
        let plain = try #require(read(text(["db.system.name": "mysql"])))
        #expect(plain.error(isError: true, exception: "Lost") == "Lost")
        #expect(plain.error(isError: true, exception: nil) == "_OTHER")
        let named = try #require(read(text(["db.system.name": "mysql", "error.type": "timeout"])))
        #expect(named.error(isError: false, exception: nil) == "timeout")
    }

    @Test func longNamesAreCut() throws {
        let long = String(repeating: "ß", count: 1000)
        let call = try #require(read(text(["messaging.system": long, "messaging.destination.name": long])))
        #expect(call.system.utf8.count <= 200 && call.endpoint.utf8.count <= 200)
        let table = try #require(read(text(["db.system": "mysql", "db.operation": "SELECT", "db.sql.table": long])))
        #expect(table.endpoint.hasPrefix("SELECT ß") && table.endpoint.utf8.count <= 200)
    }
}
