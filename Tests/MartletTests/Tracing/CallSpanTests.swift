import MartletTelemetry
import Testing
import Tracing

@testable import Martlet

extension AgentTests {
    /// Spans that are remote procedure calls.
    @Suite struct CallSpanTests {
        private func call(_ kind: SpanKind = .client, status: String, error: (any Error)? = nil) {
            span(
                kind,
                [
                    "rpc.system.name": "grpc", "rpc.method": "shop.Orders/Place",
                    "rpc.response.status_code": .string(status),
                    "server.address": .string(SpanFixture.host), "server.port": 50051,
                ], error: error)
        }

        @Test func callsAreCountedByMethodAtAnySampleRate() async {
            let found = await recorded({ $0.sampleRate = 0 }) {
                for _ in 0..<100 { call(status: "OK") }
                call(.server, status: "OK")
            }
            #expect(
                found.counts == ["client POST shop.Orders/Place - - 100", "server POST shop.Orders/Place - - 1"])
            #expect(found.requests.keys.map(\.host).allSatisfy { $0 == SpanFixture.host })
            #expect(found.requests.keys.map(\.port).allSatisfy { $0 == 50051 })
            #expect(found.spans.isEmpty)
        }

        /// The table of the semantic conventions ("gRPC", status), except for the cancelled call.
        @Test(
            arguments: [
                ("OK", nil, nil), ("CANCELLED", "cancelled", "cancelled"), ("UNKNOWN", "UNKNOWN", "UNKNOWN"),
                ("INVALID_ARGUMENT", "INVALID_ARGUMENT", nil),
                ("DEADLINE_EXCEEDED", "DEADLINE_EXCEEDED", "DEADLINE_EXCEEDED"),
                ("NOT_FOUND", "NOT_FOUND", nil), ("ALREADY_EXISTS", "ALREADY_EXISTS", nil),
                ("PERMISSION_DENIED", "PERMISSION_DENIED", nil), ("RESOURCE_EXHAUSTED", "RESOURCE_EXHAUSTED", nil),
                ("FAILED_PRECONDITION", "FAILED_PRECONDITION", nil), ("ABORTED", "ABORTED", nil),
                ("OUT_OF_RANGE", "OUT_OF_RANGE", nil), ("UNIMPLEMENTED", "UNIMPLEMENTED", "UNIMPLEMENTED"),
                ("INTERNAL", "INTERNAL", "INTERNAL"), ("UNAVAILABLE", "UNAVAILABLE", "UNAVAILABLE"),
                ("DATA_LOSS", "DATA_LOSS", "DATA_LOSS"), ("UNAUTHENTICATED", "UNAUTHENTICATED", nil),
            ] as [(String, String?, String?)])
        func statusIsAFailureOfTheSideThatTheConventionsName(status: String, client: String?, server: String?) async {
            let found = await recorded {
                // A handler's error is recorded on either side, and the status decides.
                call(.client, status: status, error: status == "OK" ? nil : Broken.badly)
                call(.server, status: status, error: status == "OK" ? nil : Broken.badly)
            }
            let errors = Dictionary(uniqueKeysWithValues: found.requests.keys.map { ($0.kind, $0.error) })
            #expect(errors == [.client: client, .server: server])
            let failed = Set(found.spans.filter(\.isError).compactMap(\.request?.kind))
            let expected = [(RequestKind.client, client), (.server, server)]
                .filter { $0.1 != nil && $0.1 != "cancelled" }.map(\.0)
            #expect(failed == Set(expected))
        }

        @Test func earlierNamesOfTheConventionsAreUnderstood() async {
            let found = await recorded {
                for status in [0, 14] {
                    span(
                        .client,
                        [
                            "rpc.system": "grpc", "rpc.service": "shop.Orders", "rpc.method": "Place",
                            "rpc.grpc.status_code": .int(Int64(status)),
                            "net.peer.name": .string(SpanFixture.host),
                        ])
                }
            }
            #expect(
                found.counts == [
                    "client POST shop.Orders/Place - - 1", "client POST shop.Orders/Place - UNAVAILABLE 1",
                ])
        }

        @Test func keptCallHasNameAndStatusButNoURL() async throws {
            let found = await recorded {
                let span = MartletTracer().startSpan("shop.Orders/Place", ofKind: .client)
                span.attributes = [
                    "rpc.system.name": "grpc", "rpc.method": "shop.Orders/Place",
                    "rpc.response.status_code": "NOT_FOUND", "server.address": .string(SpanFixture.host),
                ]
                span.end()
            }
            let kept = try #require(found.spans.first)
            #expect(kept.name == "shop.Orders/Place")
            #expect(kept.url.isEmpty)
            #expect(kept.isError)
            #expect(kept.request?.endpoint == "shop.Orders/Place")
            #expect(
                kept.attributes == [
                    "rpc.system.name": .string("grpc"), "rpc.method": .string("shop.Orders/Place"),
                    "rpc.response.status_code": .string("NOT_FOUND"),
                ])
        }

        @Test func callOfAnotherSystemFailsByItsErrorType() async {
            let found = await recorded {
                for error in [nil, "-32602"] as [String?] {
                    var attributes: SpanAttributes = [
                        "rpc.system.name": "jsonrpc", "rpc.method": "place",
                        "server.address": .string(SpanFixture.host),
                    ]
                    attributes["error.type"] = error
                    attributes["rpc.response.status_code"] = error
                    span(.client, attributes)
                }
            }
            #expect(found.counts == ["client _OTHER place - - 1", "client _OTHER place - -32602 1"])
        }

        @Test func excludedMethodsAreNotCounted() async {
            let found = await recorded({ $0.exclude = ["*/grpc.health.v1.Health/*"] }) {
                for method in ["grpc.health.v1.Health/Check", "shop.Orders/Place"] {
                    span(
                        .client,
                        [
                            "rpc.system.name": "grpc", "rpc.method": .string(method),
                            "server.address": .string(SpanFixture.host),
                        ])
                }
            }
            #expect(found.counts == ["client POST shop.Orders/Place - - 1"])
        }

        @Test func callIsNotCountedIfAnHTTPRequestWithinItIs() async {
            let found = await recorded {
                MartletTracer().withSpan("S3/GetObject", ofKind: .client) { span in
                    span.attributes = ["rpc.system": "aws-api", "rpc.service": "S3", "rpc.method": "GetObject"]
                    MartletTracer().request("/bucket")
                }
            }
            #expect(found.counts == ["client GET /bucket 200 - 1"])
        }
    }
}
