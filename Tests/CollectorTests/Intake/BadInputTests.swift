import HummingbirdTesting
import MartletOTLP
import SwiftProtobuf
import Testing

/// Answers to requests that are damaged in ways that the OTLP specification does not mention (``OTLPConformanceTests`` has the
/// others). Each answer has a status and a reason, and the next good request is taken.
@Suite struct BadInputTests {
    /// Checks the answer to a bad request, then sends a good batch on the same connection.
    private func expect(
        _ status: Int, _ send: @escaping @Sendable (any TestClientProtocol) async throws -> TestResponse
    ) async throws {
        try await withServer { client in
            let response = try await send(client)
            #expect(response.status.code == status)
            #expect(response.headers[.contentType] == "application/x-protobuf")
            #expect(try !response.reason.isEmpty)
            #expect(try await client.post(try Samples.body()).status == .ok)
            #expect(try await client.count() == 5)
        }
    }

    @Test func damagedGzipStreamIs400() async throws {
        let stream = try Gzip.compress(try Samples.body())
        try await expect(400) { try await $0.post(Array(stream.dropLast(9)), encoding: "gzip") }
        try await expect(400) { try await $0.post(Array("garbage".utf8), encoding: "gzip") }
    }

    @Test func unknownContentEncodingIs400() async throws {
        let body = try Samples.body()
        try await expect(400) { try await $0.post(body, encoding: "br") }
    }

    @Test func malformedBatchHeaderIs400() async throws {
        let body = try Samples.body()
        for batch in ["x", "i-1/1", "i-1/-1/metrics", "i 1/1/metrics", "i-1/1/traces"] {
            try await expect(400) { try await $0.post(body, batch: batch) }
        }
    }
}
