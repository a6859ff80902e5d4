import Foundation
import MartletIntake
import MartletOTLP
import MartletStorage
import MartletTelemetry
import SwiftProtobuf
import Testing

/// Spans of calls of databases, message brokers and procedures, as instruments of other SDKs make them.
enum SystemSpans {
    struct Call: Sendable {
        var kind = OTLPSpan.SpanKind.client
        var name = "call"
        var attributes: [(name: String, value: SpanAttribute)]
        var isError = false
        /// The type of a recorded exception.
        var exception: String?

        func adding(_ more: [(name: String, value: SpanAttribute)]) -> Call {
            var call = self
            call.attributes += more
            return call
        }
    }

    /// OpenTelemetry's instrument of psycopg for Python.
    static func psycopg(_ statement: String = "SELECT name FROM users WHERE id = %s") -> Call {
        Call(
            name: "SELECT",
            attributes: [
                ("db.system", .string("postgresql")), ("db.name", .string("shop")),
                ("db.statement", .string(statement)), ("db.user", .string("app")),
                ("net.peer.name", .string("db.internal")), ("net.peer.port", .integer(5432)),
            ])
    }

    /// OpenTelemetry's instrument of SQLAlchemy for Python.
    static var sqlalchemy: Call {
        var call = psycopg("SELECT name FROM users WHERE id = %(id_1)s")
        call.name = "SELECT shop"
        return call
    }

    static let valkey = Call(
        name: "GET",
        attributes: [
            ("db.system.name", .string("valkey")), ("db.operation.name", .string("GET")),
            ("server.address", .string("cache.internal")), ("server.port", .integer(6379)),
            ("network.peer.address", .string("10.0.0.7")), ("network.peer.port", .integer(6379)),
        ])

    static let redis = Call(
        name: "GET",
        attributes: [
            ("db.system", .string("redis")), ("db.statement", .string("GET user:42")),
            ("net.peer.name", .string("cache.internal")), ("net.peer.port", .integer(6379)),
        ])

    static let producer = Call(
        kind: .producer, name: "orders send",
        attributes: [
            ("messaging.system", .string("kafka")), ("messaging.destination.name", .string("orders")),
            ("server.address", .string("broker.internal")), ("server.port", .integer(9092)),
        ])

    static let elasticsearch = Call(
        name: "search",
        attributes: [
            ("db.system", .string("elasticsearch")), ("db.operation", .string("search")),
            ("db.statement", .string(#"{"query":{"match":{"name":"secret"}}}"#)),
            ("http.request.method", .string("POST")),
            ("url.full", .string("https://search.internal:9200/users/_search")),
            ("server.address", .string("search.internal")), ("server.port", .integer(9200)),
        ])

    static func http(_ host: String = "search.internal") -> Call {
        Call(
            name: "POST",
            attributes: [
                ("http.request.method", .string("POST")), ("server.address", .string(host)),
                ("server.port", .integer(9200)), ("http.response.status_code", .integer(200)),
            ])
    }

    static func grpc(_ kind: OTLPSpan.SpanKind = .client, status: Int64 = 0) -> Call {
        Call(
            kind: kind, name: "shop.Orders/Place",
            attributes: [
                ("rpc.system", .string("grpc")), ("rpc.service", .string("shop.Orders")),
                ("rpc.method", .string("Place")),
                ("rpc.grpc.status_code", .integer(status)), ("server.address", .string("orders.internal")),
                ("server.port", .integer(50051)),
            ])
    }

    // MARK: Bodies

    /// A call with its place in a trace.
    struct Span: Sendable {
        var number: UInt8
        var parent: UInt8?
        var call: Call
        /// The second in which it starts. It takes 250 ms.
        var second: UInt64 = 1
    }

    static func body(_ spans: [Span], service: String = "shop") -> OTLPExportTraceServiceRequest {
        .with {
            $0.resourceSpans = [
                .with {
                    $0.resource.attributes = [
                        OTLPKeyValue("service.name", service), OTLPKeyValue("service.instance.id", "s-1"),
                        OTLPKeyValue("telemetry.sdk.name", "opentelemetry"),
                    ]
                    $0.scopeSpans = [.with { $0.spans = spans.map(span) }]
                }
            ]
        }
    }

    private static func span(_ one: Span) -> OTLPSpan {
        .with {
            $0.traceID = Data(repeating: 7, count: 16)
            $0.spanID = Data(repeating: one.number, count: 8)
            $0.parentSpanID = one.parent.map { Data(repeating: $0, count: 8) } ?? Data()
            ($0.name, $0.kind) = (one.call.name, one.call.kind)
            $0.startTimeUnixNano = Samples.time(one.second)
            $0.endTimeUnixNano = Samples.time(one.second) + 250_000_000
            $0.attributes = one.call.attributes.map(attribute)
            if one.call.isError { $0.status.code = .error }
            $0.events =
                one.call.exception.map { type in
                    [
                        .with {
                            $0.name = "exception"
                            $0.attributes = [OTLPKeyValue("exception.type", type)]
                        }
                    ]
                } ?? []
        }
    }

    static func attribute(_ name: String, _ value: SpanAttribute) -> OTLPKeyValue {
        switch value {
        case .integer(let number): OTLPKeyValue(name, number)
        case .boolean(let isTrue):
            .with {
                $0.key = name
                $0.value.boolValue = isTrue
            }
        case .string(let text): OTLPKeyValue(name, text)
        case .double, .array: OTLPKeyValue(name, "\(value)")
        }
    }

    static func send(_ spans: [Span], to storage: any Storage) async throws {
        let taken = try Intake().details(try body(spans).serializedBytes(), encoding: .identity)
        #expect(taken.refusals.message == "")
        _ = try await storage.store(taken.values, of: nil)
    }
}
