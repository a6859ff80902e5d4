import Fixtures
import Foundation
import Hummingbird
import HummingbirdTesting
import MartletIntake
import MartletOTLP
import MartletSQLiteStorage
import MartletServer
import MartletStorage
import MartletTelemetry
import SwiftProtobuf
import Testing

/// The OTLP specification's rules for an OTLP/HTTP server, checked in order against a server on a socket. The marks below have
/// the names of the specification's sections. ``OTLPConnectionTests`` covers the section about connections.
@Suite struct OTLPConformanceTests {
    static let paths = ["/v1/metrics", "/v1/traces"]
    static let formats = IntakeFormat.allCases

    /// Returns a good body for a path.
    private static func body(_ path: String, _ format: IntakeFormat = .protobuf) throws -> [UInt8] {
        if path == "/v1/metrics" {
            let bytes = try Samples.body()
            return format == .protobuf
                ? bytes : try OTLPExportMetricsServiceRequest(serializedBytes: bytes).jsonUTF8Bytes()
        }
        guard format == .protobuf else {
            return Array(
                """
                {"resourceSpans": [{"scopeSpans": [{"spans": [{"name": "x", "traceId": "5b8efff798038103d269b633813fc60c",
                "spanId": "eee19b7ec3c1b174", "startTimeUnixNano": "1790000000000000000", "endTimeUnixNano": "1790000000000000001"}]}]}]}
                """.utf8)
        }
        return try DetailsBatch(resource: Samples.resource(), details: [Samples.detail(1)]).otlp()
    }

    /// Returns a valid message without a single valid point or span.
    private static func refusedBody(_ path: String, _ format: IntakeFormat) throws -> [UInt8] {
        if path == "/v1/metrics" {
            var request = try OTLPExportMetricsServiceRequest(serializedBytes: try Samples.body())
            request.resourceMetrics[0].scopeMetrics[0].metrics[0].exponentialHistogram.dataPoints[0].scale = 99
            return format == .protobuf ? try request.serializedBytes() : try request.jsonUTF8Bytes()
        }
        var request = OTLPExportTraceServiceRequest()
        request.resourceSpans = [.with { $0.scopeSpans = [.with { $0.spans = [OTLPSpan()] }] }]
        return format == .protobuf ? try request.serializedBytes() : try request.jsonUTF8Bytes()
    }

    private static func status(_ response: TestResponse) throws -> RPCStatus {
        let bytes = [UInt8](buffer: response.body)
        return response.headers[.contentType] == IntakeFormat.json.contentType
            ? try RPCStatus(jsonUTF8Bytes: bytes) : try RPCStatus(serializedBytes: bytes)
    }

    // MARK: Protocol Details

    @Test(arguments: paths, formats)
    func serverAcceptsUncompressedAndGzippedBodies(path: String, format: IntakeFormat) async throws {
        try await withServer { client in
            let body = try Self.body(path, format)
            for (body, encoding) in [(body, nil), (body, "identity"), (try Gzip.compress(body), "gzip")] {
                let response = try await client.post(body, to: path, type: format.contentType, encoding: encoding)
                #expect(response.status == .ok)
            }
            if path == "/v1/metrics" { #expect(try await client.count() == 15) }
        }
    }

    // MARK: Binary Protobuf Encoding, JSON Protobuf Encoding

    @Test(arguments: paths, formats)
    func answerHasTheContentTypeOfItsRequest(path: String, format: IntakeFormat) async throws {
        try await withServer { client in
            for body in [try Self.body(path, format), try Self.refusedBody(path, format), Array("{nonsense".utf8)] {
                let response = try await client.post(body, to: path, type: format.contentType)
                #expect(response.headers[.contentType] == format.contentType)
            }
        }
    }

    @Test func jsonHasHexadecimalIDsEnumsAsIntegersAndLongIntegersAsNumbersOrStrings() async throws {
        let body = """
            {"resourceSpans": [{"scopeSpans": [{"spans": [{"name": "hex", "kind": 2, "endTimeUnixNano": 1790000000000002000,
            "traceId": "5B8EFFF798038103D269B633813FC60C", "spanId": "EEE19B7EC3C1B174", "startTimeUnixNano": "1790000000000001000"}]}]}]}
            """
        let folder = try TemporaryFolder()
        try await withServer(store: folder.path("collector.sqlite")) { client in
            let response = try await client.post(
                Array(body.utf8), to: "/v1/traces", type: IntakeFormat.json.contentType)
            #expect(response.status == .ok)
            #expect(String(buffer: response.body) == "{}")
        }
        let trace = try #require(TraceID(hexDigits: Array("5b8efff798038103d269b633813fc60c".utf8)))
        let storage = try SQLiteStorage(readingFrom: folder.path("collector.sqlite"))
        let span = try #require(try await storage.spans(ofTrace: trace, limit: 10).spans.first?.span)
        #expect(span.spanID.description == "eee19b7ec3c1b174")
        #expect(span.kind == .server)
        #expect([span.start, span.durationNanoseconds] == [1_790_000_000_000_001_000, 1000])
    }

    @Test(arguments: paths)
    func jsonFieldsWithUnknownNamesAreIgnored(path: String) async throws {
        try await withServer { client in
            let response = try await client.post(
                Array(#"{"resourceFuture": [{"a": [{}, null, "}"]}]}"#.utf8), to: path,
                type: IntakeFormat.json.contentType)
            #expect(response.status == .ok)
        }
    }

    @Test(arguments: paths)
    func protobufFieldsWithUnknownNumbersAreIgnored(path: String) async throws {
        try await withServer { client in
            let unknown: [UInt8] = [0xfa, 0x01, 3, 1, 2, 3, 0xf8, 0x01, 7]
            let response = try await client.post(try Self.body(path) + unknown, to: path)
            #expect(response.status == .ok)
        }
    }

    @Test func oneConnectionTakesBothEncodings() async throws {
        try await withServer { client in
            try await RawConnection.open(port: client.port) { connection in
                for path in Self.paths {
                    for format in Self.formats {
                        try await connection.post(
                            try Self.body(path, format), to: path, headers: ["Content-Type: \(format.contentType)"])
                        let answer = try await connection.answer()
                        #expect(answer?.status == 200)
                        #expect(answer?.headers["content-type"] == format.contentType)
                    }
                }
            }
        }
    }

    // MARK: OTLP/HTTP Request

    @Test(arguments: paths, ["GET", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND"])
    func telemetryIsSentWithPOST(path: String, method: String) async throws {
        try await withServer { client in
            let response = try await client.executeRequest(
                uri: path, method: try #require(HTTPRequest.Method(method)), headers: [:], body: nil)
            #expect(response.status == .methodNotAllowed)
            #expect(response.headers[.allow] == "POST")
            #expect(try Self.status(response).message == "only POST is allowed at this path")
        }
    }

    @Test func logsAreAnsweredClearly() async throws {
        try await withServer { client in
            for format in Self.formats {
                let response = try await client.post([], to: "/v1/logs", type: format.contentType)
                #expect(response.status == .notFound)
                #expect(try Self.status(response).message == "logs are not supported; send metrics and traces")
            }
        }
    }

    @Test(arguments: paths, formats)
    func bodyOverTheLimitIs413BeforeAndAfterInflating(path: String, format: IntakeFormat) async throws {
        var limits = IntakeLimits()
        limits.maxBodyBytes = 100_000
        let large = [UInt8](repeating: UInt8(ascii: " "), count: 100_001)
        try await withServer(limits: limits) { client in
            let bomb = try Gzip.compress(large)
            #expect(bomb.count < 100_000)
            for (body, encoding) in [(large, nil), (bomb, "gzip")] {
                let response = try await client.post(body, to: path, type: format.contentType, encoding: encoding)
                #expect(response.status == .contentTooLarge)
                #expect(try Self.status(response).message.contains("100000 bytes"))
            }
        }
    }

    @Test func limitAlsoHoldsForABodyWithoutALength() async throws {
        var limits = IntakeLimits()
        limits.maxBodyBytes = 100_000
        try await withServer(limits: limits) { client in
            try await RawConnection.open(port: client.port) { connection in
                try await connection.send(
                    """
                    POST /v1/metrics HTTP/1.1\r\nHost: test\r\nContent-Type: application/x-protobuf\r
                    Transfer-Encoding: chunked\r\n\r\n
                    """)
                for _ in 0..<2 {
                    try await connection.send("EA60\r\n")
                    try await connection.send([UInt8](repeating: 0, count: 60_000))
                    try await connection.send("\r\n")
                }
                #expect(try await connection.answer()?.status == 413)
            }
        }
    }

    @Test func recommendedLimitIsTheDefault() {
        #expect(IntakeLimits().maxBodyBytes == 64 * 1024 * 1024)
    }

    // MARK: Full Success

    @Test(arguments: paths, formats)
    func emptyRequestSucceeds(path: String, format: IntakeFormat) async throws {
        let bodies: [[UInt8]] =
            format == .json
            ? [Array("{}".utf8), Array(#"{"resourceSpans": [{"scopeSpans": [{}]}]}"#.utf8)] : [[], [0x0a, 0]]
        try await withServer { client in
            for body in bodies {
                let response = try await client.post(body, to: path, type: format.contentType)
                #expect(response.status == .ok)
                #expect(response.headers[.contentType] == format.contentType)
                #expect(String(buffer: response.body) == (format == .json ? "{}" : ""))
            }
        }
    }

    @Test(arguments: paths, formats)
    func fullSuccessIs200AndLeavesPartialSuccessUnset(path: String, format: IntakeFormat) async throws {
        try await withServer { client in
            let response = try await client.post(try Self.body(path, format), to: path, type: format.contentType)
            #expect(response.status == .ok)
            #expect(String(buffer: response.body) == (format == .json ? "{}" : ""))
        }
    }

    // MARK: Partial Success

    @Test(arguments: formats)
    func partialSuccessIs200WithTheRejectedPointsAndTheReason(format: IntakeFormat) async throws {
        try await withServer { client in
            let response = try await client.post(
                try Self.refusedBody("/v1/metrics", format), type: format.contentType)
            #expect(response.status == .ok)
            let bytes = [UInt8](buffer: response.body)
            let message =
                format == .json
                ? try OTLPExportMetricsServiceResponse(jsonUTF8Bytes: bytes)
                : try OTLPExportMetricsServiceResponse(serializedBytes: bytes)
            // The point of the duration is refused, but the size is taken.
            #expect(message.partialSuccess.rejectedDataPoints == 1)
            #expect(message.partialSuccess.errorMessage.contains("out of bounds"))
            #expect(try await client.count() == 0)
        }
    }

    @Test(arguments: formats)
    func partialSuccessIs200WithTheRejectedSpansAndTheReason(format: IntakeFormat) async throws {
        try await withServer { client in
            let response = try await client.post(
                try Self.refusedBody("/v1/traces", format), to: "/v1/traces", type: format.contentType)
            #expect(response.status == .ok)
            let bytes = [UInt8](buffer: response.body)
            let message =
                format == .json
                ? try OTLPExportTraceServiceResponse(jsonUTF8Bytes: bytes)
                : try OTLPExportTraceServiceResponse(serializedBytes: bytes)
            #expect(message.partialSuccess.rejectedSpans == 1)
            #expect(message.partialSuccess.errorMessage == "1 rejected: the span has no valid ids")
        }
    }

    // MARK: Failures, Bad Data

    @Test(arguments: paths, formats)
    func badDataIs400WithAStatusAndTheReason(path: String, format: IntakeFormat) async throws {
        try await withServer { client in
            let response = try await client.post(Array("{nonsense".utf8), to: path, type: format.contentType)
            #expect(response.status == .badRequest)
            let status = try Self.status(response)
            #expect(status.code == 3)
            #expect(status.message.hasPrefix("the body is not an OTLP"))
            let good = try await client.post(try Self.body(path, format), to: path, type: format.contentType)
            #expect(good.status == .ok)
        }
    }

    @Test(arguments: formats)
    func everyFailureHasAStatusInItsRequestsEncoding(format: IntakeFormat) async throws {
        var limits = IntakeLimits()
        limits.maxBodyBytes = 1000
        try await withServer(limits: limits, tokens: ServerTokens(ingest: "secret")) { client in
            let type = format.contentType
            let failures = [
                (400, try await client.post([0xff], type: type, token: "secret")),
                (401, try await client.post([], type: type)),
                (404, try await client.post([], to: "/v1/logs", type: type, token: "secret")),
                (404, try await client.post([], to: "/v1/profiles", type: type)),
                (404, try await client.post([], to: "/v1/metrics/more", type: type, token: "secret")),
                (
                    405,
                    try await client.executeRequest(
                        uri: "/v1/metrics", method: .put, headers: [.contentType: type], body: nil)
                ),
                (413, try await client.post([UInt8](repeating: 0, count: 1001), type: type, token: "secret")),
            ]
            for (code, response) in failures {
                #expect(response.status.code == code)
                #expect(response.headers[.contentType] == type)
                #expect(try !Self.status(response).message.isEmpty)
            }
        }
    }

    @Test func otherContentTypeIs415WithAStatusInProtobuf() async throws {
        try await withServer { client in
            for type in [nil, "text/plain", "application/grpc", "application/jsonl", "application/x-protobuf2"] {
                let response = try await client.post(try Samples.body(), type: type)
                #expect(response.status == .unsupportedMediaType)
                #expect(response.headers[.contentType] == IntakeFormat.protobuf.contentType)
                #expect(try Self.status(response).message.contains("application/json"))
            }
        }
    }

    // MARK: OTLP/HTTP Throttling, Retryable Response Codes

    @Test(arguments: paths, formats)
    func overloadedServerAnswers429WithARetryAfter(path: String, format: IntakeFormat) async throws {
        try await withServer(storage: { FailingStorage($0, error: StorageBusy()) }) { client in
            let response = try await client.post(try Self.body(path, format), to: path, type: format.contentType)
            #expect(response.status == .tooManyRequests)
            #expect(response.headers[.retryAfter] == "1")
            #expect(try Self.status(response).code == 8)
        }
    }

    @Test(arguments: paths, formats)
    func serverThatCannotStoreAnswers503WithARetryAfter(path: String, format: IntakeFormat) async throws {
        try await withServer(storage: { FailingStorage($0, error: StorageFailure("the disk is full")) }) { client in
            let response = try await client.post(try Self.body(path, format), to: path, type: format.contentType)
            #expect(response.status == .serviceUnavailable)
            #expect(response.headers[.retryAfter] == "1")
            #expect(try Self.status(response).code == 14)
            #expect(try !Self.status(response).message.contains("disk"))
        }
    }

    // MARK: OTLP/HTTP Default Port

    /// The test reads the port from the command's help, because a test must not listen on a fixed port.
    @Test func defaultPortIs4318() async throws {
        let help = try await ChildProcess(.martletCollector, ["serve", "--help"]).finish().output
        #expect(help.split(whereSeparator: \.isWhitespace).joined(separator: " ").contains("(default: 4318)"))
    }
}
