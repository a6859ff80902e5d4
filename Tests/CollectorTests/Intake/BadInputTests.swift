import HummingbirdTesting
import MartletIntake
import MartletOTLP
import SwiftProtobuf
import Testing

/// Answers to bad requests: each has a status and a reason, and the next good request is taken.
@Suite struct BadInputTests {
    /// Checks the answer to a bad request, then sends a good batch on the same connection.
    private func expect(
        _ status: Int, limits: IntakeLimits = IntakeLimits(),
        _ send: @escaping @Sendable (any TestClientProtocol) async throws -> TestResponse
    ) async throws {
        try await withServer(limits: limits) { client in
            let response = try await send(client)
            #expect(response.status.code == status)
            #expect(response.headers[.contentType] == "application/x-protobuf")
            #expect(try !response.reason.isEmpty)
            #expect(try await client.post(try Samples.body()).status == .ok)
            #expect(try await client.count() == 5)
        }
    }

    @Test func garbageIs400() async throws {
        try await expect(400) { try await $0.post(Array("garbage".utf8)) }
        try await expect(400) { try await $0.post(Array("garbage".utf8), to: "/v1/traces") }
        try await expect(400) { try await $0.post(Array("garbage".utf8), encoding: "gzip") }
    }

    @Test func aTruncatedGzipStreamIs400() async throws {
        let stream = try Gzip.compress(try Samples.body())
        try await expect(400) { try await $0.post(Array(stream.dropLast(9)), encoding: "gzip") }
    }

    @Test func aGzipBombIs413() async throws {
        var limits = IntakeLimits()
        limits.maxBodyBytes = 100_000
        let bomb = try Gzip.compress([UInt8](repeating: 0, count: 10_000_000))
        #expect(bomb.count < limits.maxBodyBytes)
        try await expect(413, limits: limits) { try await $0.post(bomb, encoding: "gzip") }
    }

    @Test func aBodyOverTheLimitIs413() async throws {
        var limits = IntakeLimits()
        limits.maxBodyBytes = 100_000
        try await expect(413, limits: limits) { try await $0.post([UInt8](repeating: 0, count: 100_001)) }
    }

    @Test func anotherContentTypeIs415() async throws {
        let body = try Samples.body()
        for type in [nil, "text/plain", "application/jsonl", "application/x-protobuf2"] {
            try await expect(415) { try await $0.post(body, type: type) }
        }
    }

    @Test func anUnknownContentEncodingIs400() async throws {
        let body = try Samples.body()
        try await expect(400) { try await $0.post(body, encoding: "br") }
    }

    @Test func aMalformedBatchHeaderIs400() async throws {
        let body = try Samples.body()
        for batch in ["x", "i-1/1", "i-1/-1/metrics", "i 1/1/metrics", "i-1/1/traces"] {
            try await expect(400) { try await $0.post(body, batch: batch) }
        }
    }

    @Test func otherMethodsAre405AndNameTheRightOne() async throws {
        try await expect(405) { client in
            let response = try await client.get("/v1/metrics")
            #expect(response.headers[.allow] == "POST")
            return response
        }
        try await expect(405) { try await $0.get("/v1/traces") }
    }

    @Test func logsAre404() async throws {
        try await expect(404) { try await $0.post([], to: "/v1/logs") }
    }
}
