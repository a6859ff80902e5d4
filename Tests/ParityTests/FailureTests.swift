import MartletOTLP
import Testing

/// The `error.type` of every failure in the matrix: the table in `docs/capture.md`.
struct FailureTests {
    @Test(arguments: names, ParityRun.Mode.withAgent)
    func failureIsNamedByItsCause(in cell: (name: String, error: String), mode: ParityRun.Mode) async throws {
        let spans = try await ParityRun.of(mode).spans(of: cell.name)
        #expect(spans.map { $0.attribute("error.type")?.stringValue } == [cell.error])
    }

    private static let names: [(name: String, error: String)] = [
        ("failure: no such host", "dns"),
        ("failure: connection refused", "connection_refused"),
        ("failure: connection refused, session delegate", "connection_refused"),
        ("failure: connection refused, upload", "connection_refused"),
        ("failure: connection refused, download", "connection_refused"),
        ("proxy of the environment that asks for credentials, tunnel", "connection_failed"),
        ("failure closed-before-answer", "connection_reset"),
        ("failure closed-before-answer, session delegate", "connection_reset"),
        ("failure closed-before-answer over tls", "connection_reset"),
        ("failure reset", "connection_reset"),
        ("failure reset over tls", "connection_reset"),
        ("failure in the body: reset", "connection_reset"),
        ("time-out of the request", "timeout"),
        ("time-out of the session's requests", "timeout"),
        ("time-out in the body", "timeout"),
        ("failure: certificate not trusted", "tls"),
        ("failure: TLS to a plain server", "tls"),
        ("redirect without end, completion handler", "too_many_redirects"),
        ("redirect without end, session delegate", "too_many_redirects"),
        ("GET with a body", "invalid_request"),
        ("failure: no host", "invalid_request"),
        ("failure: file to upload is missing", "invalid_request"),
        ("failure nonsense", "invalid_response"),
        ("failure nonsense, session delegate", "invalid_response"),
        ("failure nonsense over tls", "invalid_response"),
        ("failure bad-chunk", "invalid_response"),
        ("failure bad-length", "invalid_response"),
        ("failure bad-gzip", "invalid_response"),
        ("failure closed-in-body", "invalid_response"),
        ("failure closed-in-body over tls", "invalid_response"),
        ("failure closed-in-chunk", "invalid_response"),
        ("cancelled while the head is awaited, completion handler", "cancelled"),
        ("cancelled during the body, data", "cancelled"),
        ("cancelled during the body, download", "cancelled"),
        ("challenge refused: cancelled", "401"),
        ("proxy of the environment that asks for credentials", "407"),
        ("answer status/500", "500"),
    ]
}

extension OTLPSpan {
    func attribute(_ name: String) -> OTLPAnyValue? { attributes.first { $0.key == name }?.value }
}
