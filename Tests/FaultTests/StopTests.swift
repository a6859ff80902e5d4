import Fixtures
import Foundation
import MartletReports
import MartletTelemetry
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension FaultTests {
    /// The collector is terminated while clients are connected.
    @Suite(.serialized) struct StopTests {
        private let folder: TemporaryFolder
        private let collector: CollectorProcess

        init() async throws {
            folder = try TemporaryFolder()
            collector = try await CollectorProcess(store: folder.path("collector.sqlite"))
        }

        @Test func uploadInProgressIsAnsweredWhileNewOnesAreRefused() async throws {
            let body = try Self.batch()
            let upload = try #require(Connection(port: collector.port))
            upload.write(Self.head(length: body.count))
            upload.write(body.prefix(body.count / 2))
            try await awaitRequestInFlight()
            #expect(try await get("readyz").statusCode == 200)

            async let status = collector.terminate()
            try await wait(for: "a 503 of /readyz") { try await get("readyz").statusCode == 503 }
            #expect(try await get("healthz").statusCode == 200)
            let refused = try await get("api/v1/report")
            #expect(refused.statusCode == 503)
            #expect(refused.value(forHTTPHeaderField: "Retry-After") == "1")
            #expect(refused.mimeType == "application/json")
            #expect(try await get("v1/metrics").mimeType == "application/x-protobuf")

            upload.write(body.dropFirst(body.count / 2))
            let answer = String(decoding: upload.readToEnd(), as: UTF8.self)
            upload.close()
            #expect(answer.hasPrefix("HTTP/1.1 200 "))
            #expect(await status == 0)
            #expect(try await storedRequests() == 60)
        }

        @Test func idleOrStalledConnectionsDoNotKeepTheCollectorFromEnding() async throws {
            let idle = try #require(Connection(port: collector.port))
            idle.write(Array("GET /healthz HTTP/1.1\r\nHost: collector\r\n\r\n".utf8))
            #expect(!idle.read().isEmpty)
            let stalledInHead = try #require(Connection(port: collector.port))
            stalledInHead.write(Array("POST /v1/metrics HTTP/1.1\r\nHost: coll".utf8))
            let stalledInBody = try #require(Connection(port: collector.port))
            stalledInBody.write(Self.head(length: 1000))
            stalledInBody.write([1, 2, 3])
            try await awaitRequestInFlight()

            #expect(await collector.terminate() == 0)
            for connection in [idle, stalledInHead, stalledInBody] {
                _ = connection.readToEnd()
                connection.close()
            }
        }

        private static func batch() throws -> [UInt8] {
            var sample = SampleBatch(seed: 1)
            sample.time = UInt64(Date().timeIntervalSince1970) - 60
            return try sample.next().otlp()
        }

        private static func head(length: Int) -> [UInt8] {
            let lines = [
                "POST /v1/metrics HTTP/1.1", "Host: collector", "Content-Type: application/x-protobuf",
                "Content-Length: \(length)", "", "",
            ]
            return Array(lines.joined(separator: "\r\n").utf8)
        }

        private func get(_ path: String) async throws -> HTTPURLResponse {
            let url = try #require(URL(string: "\(collector.address)/\(path)"))
            return try #require(try await URLSession.shared.data(from: url).1 as? HTTPURLResponse)
        }

        private func awaitRequestInFlight() async throws {
            let url = try #require(URL(string: "\(collector.address)/metrics"))
            try await wait(for: "a request in flight") {
                let page = String(decoding: try await URLSession.shared.data(from: url).0, as: UTF8.self)
                return page.contains("martlet_collector_requests_in_flight 1\n")
            }
        }

        private func storedRequests() async throws -> UInt64 {
            let arguments = ["report", "--since", "1h"]
            let end = try await ChildProcess(
                .martletCollector,
                arguments + ["--format", "json", "--store", "sqlite:" + folder.path("collector.sqlite")]
            ).finish()
            return try ReportJSON.value(of: Report.self, in: Data(end.output.utf8)).totals.measures.count
        }
    }
}
