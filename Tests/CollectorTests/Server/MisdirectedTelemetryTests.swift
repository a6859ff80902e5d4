import Hummingbird
import HummingbirdTesting
import Logging
import MartletIntake
import MartletServer
import Synchronization
import Testing

/// Senders whose protocol or address is wrong. The log says what to change.
@Suite struct MisdirectedTelemetryTests {
    private let log = RefusalLog()

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
        #expect(log.reasons.count == 1)
        #expect(log.reasons.first?.contains(reason) == true, "\(log.reasons)")
    }

    @Test func usualRequestsLeaveNoLine() async throws {
        let body = try Samples.body()
        try await withServer(log: log) { client in
            for path in ["/v1/metrics", "//v1//metrics"] { _ = try await client.post(body, to: path) }
            _ = try await client.post(Array("token=x".utf8), to: "/login", type: "application/x-www-form-urlencoded")
            for path in ["/nothing", "/v1/traces/v1/traces", "/"] { _ = try await client.get(path) }
        }
        #expect(log.reasons.isEmpty, "\(log.reasons)")
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
        #expect(log.reasons.count == (reason == nil ? 0 : 1))
        if let reason { #expect(log.reasons.first?.contains(reason) == true, "\(log.reasons)") }
    }
}

/// Keeps the reasons of refusals.
private final class RefusalLog: LogHandler {
    private let lines = Mutex<[String]>([])

    var reasons: [String] { lines.withLock(\.self) }
    var logLevel: Logger.Level {
        get { .notice }
        set {}
    }
    var metadata: Logger.Metadata {
        get { [:] }
        set {}
    }

    subscript(metadataKey _: String) -> Logger.Metadata.Value? {
        get { nil }
        set {}
    }

    func log(event: LogEvent) {
        guard let reason = event.metadata?["reason"] else { return }
        lines.withLock { $0.append("\(reason)") }
    }
}
