import Hummingbird
import HummingbirdTesting
import InMemoryLogging
import MartletIntake
import MartletServer
import Testing

/// Senders whose protocol or address is wrong. The log says what to change.
@Suite struct MisdirectedTelemetryTests {
    private let log = InMemoryLogHandler()

    private var reasons: [String] { log.entries.compactMap { $0.metadata["reason"].map { "\($0)" } } }

    @Test(
        arguments: [
            ("/", "application/x-protobuf", "there is nothing at this path"),
            ("/v1/traces/v1/traces", "application/x-protobuf", "the path is there twice"),
            ("/v1/metrics/v1/metrics", "application/json", "the path is there twice"),
            ("/v1/traces/v1/metrics", "application/json; charset=utf-8", "the path is there twice"),
            ("/otlp/v1/traces", "application/x-protobuf", "there is nothing at this path"),
            ("/v1", "application/json", "there is nothing at this path"),
        ])
    func telemetryAtAnotherPathIsLogged(path: String, type: String, reason: String) async throws {
        let body = try Samples.body()
        try await withServer(log: log) { client in
            let answer = try await client.post(body, to: path, type: type)
            #expect(answer.status.kind == .clientError)
        }
        #expect(reasons.count == 1)
        #expect(reasons.first?.contains(reason) == true, "\(reasons)")
    }

    @Test func usualRequestsLeaveNoLine() async throws {
        let body = try Samples.body()
        try await withServer(log: log) { client in
            for path in ["/v1/metrics", "//v1//metrics"] { _ = try await client.post(body, to: path) }
            _ = try await client.post(Array("token=x".utf8), to: "/login", type: "application/x-www-form-urlencoded")
            for path in ["/nothing", "/v1/traces/v1/traces", "/"] { _ = try await client.get(path) }
        }
        #expect(reasons.isEmpty, "\(reasons)")
    }

    private static let greetings: [(bytes: [UInt8], reason: String?)] = [
        (Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + [0, 0, 0, 4, 0, 0, 0, 0, 0], "HTTP/2, perhaps gRPC"),
        ([0x16, 0x03, 0x01, 0x00, 0x05, 0x01, 0x00, 0x00, 0x01, 0x03], "the client speaks TLS"),
        ([0x16, 0x03, 0x03, 0x00, 0x05, 0x01, 0x00, 0x00, 0x01, 0x03], "the client speaks TLS"),
        (Array("nonsense\r\n\r\n".utf8), nil), (Array("PRIVATE / HTTP/1.1\r\nHost: a\r\n\r\n".utf8), nil),
    ]

    @Test(arguments: greetings.indices) func greetingOfAnotherProtocolIsLogged(index: Int) async throws {
        let (bytes, reason) = Self.greetings[index]
        try await withServer(log: log) { client in
            try await RawConnection.open(port: client.port) { connection in
                try await connection.send(bytes)
                _ = try await connection.answer()
            }
        }
        #expect(reasons.count == (reason == nil ? 0 : 1))
        if let reason { #expect(reasons.first?.contains(reason) == true, "\(reasons)") }
    }
}
