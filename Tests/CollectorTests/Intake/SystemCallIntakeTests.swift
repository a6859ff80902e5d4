import Foundation
import MartletIntake
import MartletOTLP
import MartletStorage
import MartletTelemetry
import SwiftProtobuf
import Testing

/// The reading of calls of databases, message brokers and procedures, in protobuf and in JSON.
@Suite struct SystemCallIntakeTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var call: SystemSpans.Call
        /// System, method, host with port, and endpoint; `nil` if the span is no request.
        var counted: String?
        var error: String?

        init(_ name: String, _ call: SystemSpans.Call, _ counted: String?, error: String? = nil) {
            (testDescription, self.call, self.counted, self.error) = (name, call, counted, error)
        }
    }

    private static let database: [(name: String, value: SpanAttribute)] = [
        ("db.system.name", .string("postgresql")), ("server.address", .string("DB.internal")),
    ]

    private static let unnamed = "postgresql _OTHER db.internal {unknown}"

    private static func call(
        _ attributes: [(name: String, value: SpanAttribute)], isError: Bool = false, exception: String? = nil
    ) -> SystemSpans.Call {
        SystemSpans.Call(attributes: database + attributes, isError: isError, exception: exception)
    }

    private static func kind(_ kind: OTLPSpan.SpanKind, _ call: SystemSpans.Call) -> SystemSpans.Call {
        var call = call
        call.kind = kind
        return call
    }

    private static func named(by statement: String) -> SystemSpans.Call {
        var call = SystemSpans.psycopg(statement)
        call.name = statement
        return call
    }

    static let cases = [
        Case(
            "a span that is named by its statement", named(by: "SELECT 1 FROM users WHERE name = 'secret'"),
            "postgresql SELECT db.internal:5432 SELECT ? FROM users WHERE name = ?"),
        Case(
            "psycopg", SystemSpans.psycopg(), "postgresql SELECT db.internal:5432 SELECT name FROM users WHERE id = ?"),
        Case(
            "a statement with values", SystemSpans.psycopg("/* a */ select * from users where name = 'secret'"),
            "postgresql SELECT db.internal:5432 select * from users where name = ?"),
        Case("valkey", SystemSpans.valkey, "valkey GET cache.internal:6379 GET"),
        Case("redis", SystemSpans.redis, "redis GET cache.internal:6379 GET"),
        Case("a producer", SystemSpans.producer, "kafka send broker.internal:9092 orders"),
        Case("a consumer", kind(.consumer, SystemSpans.producer), nil),
        Case("a search engine", SystemSpans.elasticsearch, "elasticsearch search search.internal:9200 search"),
        Case("HTTP", SystemSpans.http(), "http POST search.internal:9200 {unknown}"),
        Case("a procedure", SystemSpans.grpc(), "grpc POST orders.internal:50051 shop.Orders/Place"),
        Case("a served procedure", SystemSpans.grpc(.server), "grpc POST orders.internal:50051 shop.Orders/Place"),
        Case(
            "a procedure that failed", SystemSpans.grpc(status: 14),
            "grpc POST orders.internal:50051 shop.Orders/Place", error: "UNAVAILABLE"),
        Case(
            "a served procedure that its caller got wrong", SystemSpans.grpc(.server, status: 3),
            "grpc POST orders.internal:50051 shop.Orders/Place"),
        Case(
            "a summary", call([("db.query.summary", .string("SELECT users"))]),
            "postgresql SELECT db.internal SELECT users"),
        Case(
            "a collection", call([("db.operation", .string("INSERT")), ("db.sql.table", .string("users"))]),
            "postgresql INSERT db.internal INSERT users"),
        Case("nothing but a system", call([]), unnamed),
        Case("an internal span", kind(.internal, call([])), nil),
        Case("an error type", call([("error.type", .string("timeout"))]), unnamed, error: "timeout"),
        Case(
            "a failing code", call([("db.response.status_code", .string("23505"))], isError: true), unnamed,
            error: "23505"),
        Case("a code of a success", call([("db.response.status_code", .string("00000"))]), unnamed),
        Case(
            "an exception", call([], isError: true, exception: "psycopg.OperationalError"), unnamed,
            error: "psycopg.OperationalError"),
        Case("an error without a name", call([], isError: true), unnamed, error: "_OTHER"),
    ]

    private func taken(_ call: SystemSpans.Call, asJSON: Bool) throws -> SpanRecord {
        let request = SystemSpans.body([SystemSpans.Span(number: 1, call: call)])
        guard asJSON else {
            let taken = try Intake().details(try request.serializedBytes(), encoding: .identity)
            return try #require(taken.values.first?.details.first)
        }
        var json = try request.jsonString()
        for id in [request.resourceSpans[0].scopeSpans[0].spans[0].traceID, Data(repeating: 1, count: 8)] {
            let digits = id.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
            json = json.replacing(id.base64EncodedString(), with: digits)
        }
        let taken = try Intake().details(Array(json.utf8), encoding: .identity, format: .json)
        return try #require(taken.values.first?.details.first, "\(taken.refusals.message)")
    }

    @Test(arguments: cases, [false, true]) func spanIsReadAsTheCallThatItReports(example: Case, asJSON: Bool) throws {
        let span = try taken(example.call, asJSON: asJSON)
        let counted = span.request.map { "\($0.system ?? "http") \($0.method) \($0.authority) \($0.endpoint)" }
        #expect(counted == example.counted)
        #expect(span.request?.error == example.error)
        #expect(span.request?.status == (example.call.name == "POST" ? 200 : nil))
        #expect(!"\(span)".contains("secret"))
        if span.request?.system != nil { #expect(span.url.isEmpty) }
    }

    @Test func keptStatementHasNoValues() throws {
        let statement = try taken(SystemSpans.psycopg("SELECT 1 FROM users WHERE name = 'secret'"), asJSON: false)
            .attributes["db.statement"]
        #expect(statement == .string("SELECT ? FROM users WHERE name = ?"))
        #expect(try taken(SystemSpans.redis, asJSON: false).attributes["db.statement"] == .string("GET"))
        let document = try taken(SystemSpans.elasticsearch, asJSON: false).attributes["db.statement"]
        #expect(document == nil)
    }

    @Test func callMarkedOKIsASuccess() throws {
        var body = SystemSpans.body([
            SystemSpans.Span(number: 1, call: SystemSpans.psycopg().adding([("error.type", .string("timeout"))]))
        ])
        body.resourceSpans[0].scopeSpans[0].spans[0].status.code = .ok
        let taken = try Intake().details(try body.serializedBytes(), encoding: .identity)
        #expect(try #require(taken.values.first?.details.first?.request).error == nil)
    }

    @Test(arguments: [("s", 0.25), ("ms", 0.000_25)]) func metricOfADatabaseHasItsUnit(unit: String, sum: Double) throws
    {
        let point = OtherMetrics.point([0.25], attributes: SystemSpans.valkey.attributes.map(SystemSpans.attribute))
        let metric = OtherMetrics.histogram([point], name: MetricName.databaseDuration, unit: unit, .delta)
        for asJSON in [false, true] {
            let request = OtherMetrics.request(scopes: [[metric]])
            let taken =
                asJSON
                ? try Intake().metrics(Array(try request.jsonString().utf8), encoding: .identity, format: .json)
                : try Intake().metrics(try request.serializedBytes(), encoding: .identity)
            let counted = try #require(taken.values.first?.points.first)
            #expect(abs(counted.statistics.duration.sum - sum) < 1e-9)
            let dimensions = counted.dimensions
            #expect((dimensions.kind, dimensions.system, dimensions.method) == (.client, "valkey", "GET"))
            #expect(dimensions.authority == "cache.internal:6379")
        }
    }

    @Test(arguments: ["rpc.system.name", "rpc.system"])
    func metricOfCallsThatAnAgentCountsAsHTTPNamesTheirSystem(name: String) throws {
        let point = OtherMetrics.point([0.25], attributes: OtherMetrics.attributes + [OTLPKeyValue(name, "grpc")])
        let request = OtherMetrics.request(scopes: [[OtherMetrics.histogram([point], .delta)]])
        let taken = try Intake().metrics(try request.serializedBytes(), encoding: .identity)
        #expect(taken.values.first?.points.map(\.dimensions.system) == ["grpc"])
    }
}
