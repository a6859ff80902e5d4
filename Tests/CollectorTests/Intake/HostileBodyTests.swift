import Fixtures
import HummingbirdTesting
import MartletIntake
import MartletOTLP
import MartletTelemetry
import SwiftProtobuf
import Testing

/// Real bodies with a few bytes changed, sent to a real server. Each is taken, or refused as the sender's fault. `make fuzz`
/// runs more of them.
@Suite struct HostileBodyTests {
    private static let seed: UInt64 = 20_261_121
    private static let requests = 1500

    private struct Body {
        var bytes: [UInt8]
        var path: String
        var format: IntakeFormat
        var encoding: String?

        /// Returns a copy in which some bytes are overwritten, flipped, removed or repeated.
        func mutated(_ random: inout SeededGenerator) -> Body {
            var body = self
            for _ in 0..<Int.random(in: 1...4, using: &random) where !body.bytes.isEmpty {
                let index = Int.random(in: 0..<body.bytes.count, using: &random)
                let end = min(body.bytes.count, index + .random(in: 1...16, using: &random))
                switch Int.random(in: 0..<5, using: &random) {
                case 0: body.bytes[index] = .random(in: 0...255, using: &random)
                case 1: body.bytes[index] ^= UInt8(1) << UInt8.random(in: 0..<8, using: &random)
                case 2: body.bytes.removeSubrange(index..<end)
                case 3: body.bytes.insert(contentsOf: body.bytes[index..<end], at: 0)
                default: body.bytes.removeLast(body.bytes.count - index)
                }
            }
            return body
        }
    }

    private static func bodies() throws -> [Body] {
        let metrics = try Samples.body()
        let traces = try DetailsBatch(resource: Samples.resource(), details: [Samples.span(1)]).otlp()
        let plain = [
            Body(bytes: metrics, path: "/v1/metrics", format: .protobuf),
            Body(bytes: traces, path: "/v1/traces", format: .protobuf),
            Body(
                bytes: try OTLPExportMetricsServiceRequest(serializedBytes: metrics).jsonUTF8Bytes(),
                path: "/v1/metrics", format: .json),
            Body(
                bytes: try OTLPExportTraceServiceRequest(serializedBytes: traces).jsonUTF8Bytes(), path: "/v1/traces",
                format: .json),
        ]
        return try plain
            + plain.map {
                Body(bytes: try Gzip.compress($0.bytes), path: $0.path, format: $0.format, encoding: "gzip")
            }
    }

    @Test func damagedBodyIsTakenOrRefusedAsTheSendersFault() async throws {
        let bodies = try Self.bodies()
        try await withServer { client in
            var random = SeededGenerator(seed: Self.seed)
            var statuses: [Int: Int] = [:]
            for number in 0..<Self.requests {
                let body = bodies[number % bodies.count].mutated(&random)
                let response = try await client.post(
                    body.bytes, to: body.path, type: body.format.contentType, encoding: body.encoding)
                statuses[response.status.code, default: 0] += 1
                #expect(
                    [200, 400, 413].contains(response.status.code), "request \(number) of seed \(Self.seed): \(body)")
            }
            #expect((statuses[200] ?? 0) > 30 && (statuses[400] ?? 0) > 30, "\(statuses)")
            #expect(try await client.post(try Samples.body()).status == .ok)
        }
    }
}
