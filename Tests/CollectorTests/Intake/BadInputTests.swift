import HummingbirdTesting
import MartletIntake
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

    /// A proxy or a sender may join streams. Each member is a whole stream (RFC 1952, section 2.2).
    @Test func gzipOfSeveralMembersIsTaken() async throws {
        let shapes: [@Sendable ([UInt8]) -> [[UInt8]]] = [
            { [Array($0.prefix(99)), Array($0.dropFirst(99))] }, { [$0, []] }, { [[], $0] },
            { [[], Array($0.prefix(99)), [], Array($0.dropFirst(99)), []] }, { $0.map { [$0] } },
        ]
        try await withServer { client in
            for (index, members) in shapes.enumerated() {
                let stream = try members(try Samples.body(endpoint: "/\(index)")).flatMap { try Gzip.compress($0) }
                #expect(try await client.post(stream, encoding: "gzip").status == .ok)
                #expect(try await client.count() == 5 * (index + 1))
            }
        }
    }

    /// RFC 9110, section 8.4.1.3.
    @Test(arguments: ["gzip", "x-gzip", "X-GZip"]) func gzipHasTwoNames(name: String) async throws {
        let stream = try Gzip.compress(try Samples.body())
        try await withServer { client in
            let answer = try await client.post(stream, encoding: name)
            #expect(answer.status == .ok)
            #expect(try await client.count() == 5)
        }
    }

    @Test func gzipOfSeveralMembersIsLimitedAsAWhole() async throws {
        let member = try Gzip.compress([UInt8](repeating: 0, count: 600_000))
        let stream = member + member + (try Gzip.compress([]))
        var limits = IntakeLimits()
        limits.maxBodyBytes = 1_000_000
        try await withServer(limits: limits) { client in
            for (body, status) in [(stream, 413), (stream.dropLast(3) + [], 413), (member + [1, 2, 3], 400)] {
                let answer = try await client.post(body, encoding: "gzip")
                #expect(answer.status.code == status)
            }
        }
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
