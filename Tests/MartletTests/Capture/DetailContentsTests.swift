import Foundation
import FoundationNetworking
import InMemoryLogging
import Logging
import MartletOTLP
import Testing

@testable import Martlet

extension AgentTests {
    @Suite struct DetailContentsTests {
        private static let secret = "hunter2x9f8e7d6c5b"

        @Test func configuredHeadersAndBodiesAreKeptWithoutTheirSecrets() async throws {
            try await withAgent(Self.everything) { agent, collector, base in
                _ = try await URLSession.shared.data(for: Self.request(base))
                await agent.flush()
                let span = try #require(try collector.spans().first { $0.name == "POST /secretive" })
                let attributes = span.attributes.reduce(into: [:]) { $0[$1.key] = $1.value }
                #expect(attributes["http.request.header.x-plain"]?.arrayValue.values.map(\.stringValue) == ["seen"])
                #expect(
                    attributes["http.request.header.authorization"]?.arrayValue.values.map(\.stringValue)
                        == ["REDACTED"])
                #expect(attributes["http.response.header.set-cookie"]?.arrayValue.values.isEmpty == false)
                let bodies = ["martlet.request.body", "martlet.response.body"].map { attributes[$0]?.stringValue ?? "" }
                for body in bodies {
                    #expect(body.contains("\"note\": \"plain\""))
                    #expect(body.contains("REDACTED"))
                }
                #expect(attributes["network.protocol.version"]?.stringValue == "1.1")
                #expect(attributes["network.peer.address"]?.stringValue == "127.0.0.1")
                #expect(attributes["martlet.phase.first_byte"]?.doubleValue ?? 0 > 0)
            }
        }

        @Test func headersAndBodiesAreKeptOnlyIfConfigured() async throws {
            try await withAgent({ $0.sampleRate = 1 }) { agent, collector, base in
                _ = try await URLSession.shared.data(for: Self.request(base))
                await agent.flush()
                let spans = try collector.spans()
                let names = spans.flatMap(\.attributes).map(\.key)
                #expect(spans.count == 1)
                #expect(!names.contains { $0.contains("header") || $0.hasSuffix(".body") })
            }
        }

        @Test(arguments: [false, true]) func bodyIsKeptUpToItsLimit(isUpload: Bool) async throws {
            try await withAgent({
                Self.everything(&$0)
                $0.bodyLimit = 100
            }) { agent, collector, base in
                var request = URLRequest(url: base / "echo")
                request.httpMethod = "POST"
                request.setValue("text/plain", forHTTPHeaderField: "Content-Type")
                let sent = Data(repeating: UInt8(ascii: "x"), count: 1 << 20)
                if !isUpload { request.httpBody = sent }
                let (echoed, _) =
                    isUpload
                    ? try await URLSession.shared.upload(for: request, from: sent)
                    : try await URLSession.shared.data(for: request)
                #expect(echoed.count == 1 << 20)
                await agent.flush()
                let span = try #require(try collector.spans().first { $0.name == "POST /echo" })
                let body = span.attributes.first { $0.key == "martlet.request.body" }?.value.stringValue
                #expect(body == String(repeating: "x", count: 100))
            }
        }

        @Test func headersAreKeptUpToTheLimit() async throws {
            try await withAgent(Self.everything) { agent, collector, base in
                _ = try await URLSession.shared.data(from: base / "wordy")
                await agent.flush()
                let span = try #require(try collector.spans().first { $0.name == "GET /wordy" })
                let headers = span.attributes.filter { $0.key.hasPrefix("http.response.header.x-") }
                let bytes = headers.flatMap(\.value.arrayValue.values).reduce(0) { $0 + $1.stringValue.utf8.count }
                #expect((20 << 10...32 << 10).contains(bytes))
                #expect(Int(span.droppedAttributesCount) >= 64 - headers.count)
            }
        }

        /// Every part of a request contains a secret and every option is on. The collector accepts nothing at first, so
        /// that files are written.
        @Test func noSecretReachesAFileAnUploadOrTheLog() async throws {
            let log = InMemoryLogHandler()
            let folder = try #require(FileManager.default.temporaryDirectory.path as String?)
            let buffer = URL(fileURLWithPath: folder).appendingPathComponent("martlet-secrets-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: buffer) }
            try await withAgent({
                Self.everything(&$0)
                $0.bufferDirectory = buffer
                $0.logLevel = .trace
                $0.logger = Logger(label: "test", factory: { _ in log })
            }) { agent, collector, base in
                collector.answer(503, 503, 503)
                for url in try Self.urls(base) {
                    for session in [URLSession.shared, URLSession(configuration: .ephemeral)] {
                        _ = try? await session.data(for: Self.request(url))
                    }
                }
                await agent.flush()
                let files = try Self.contents(of: buffer)
                #expect(files.count > 1)
                #expect(files.allSatisfy { !Self.hasSecret($0) })
                while try collector.spans().isEmpty { await agent.flush() }
                let posts = try collector.received.map { try $0.plainBody }
                #expect(posts.allSatisfy { !Self.hasSecret($0) })
            }
            let told = log.entries.map { "\($0.message) \($0.metadata)" }
            #expect(!told.isEmpty)
            #expect(told.allSatisfy { !Self.hasSecret(Array($0.utf8)) })
        }

        private static func everything(_ configuration: inout MartletConfiguration) {
            configuration.sampleRate = 1
            configuration.captureHeaders = .all
            configuration.captureBodies = .all
            configuration.redact = ["shop-word"]
        }

        private static func request(_ base: URL) -> URLRequest {
            var request = URLRequest(url: base.path.contains("secretive") ? base : base / "secretive")
            request.httpMethod = "POST"
            request.setValue("seen", forHTTPHeaderField: "X-Plain")
            request.setValue("Bearer \(secret)", forHTTPHeaderField: "Authorization")
            request.setValue("session=\(secret)", forHTTPHeaderField: "Cookie")
            request.setValue(secret, forHTTPHeaderField: "X-Api-Key")
            request.setValue(secret, forHTTPHeaderField: "Shop-Word")
            request.setValue("https://ada:\(secret)@shop.example/?q=\(secret)", forHTTPHeaderField: "Referer")
            request.setValue("application/json", forHTTPHeaderField: "Content-Type")
            request.httpBody = Data(secretiveJSON.utf8)
            return request
        }

        static let secretiveJSON = """
            {"note": "plain", "password": "\(secret)", "inner": {"access_token": ["\(secret)"], "shopWord": "\(secret)"}}
            """

        private static func urls(_ base: URL) throws -> [URL] {
            let port = try #require(base.port)
            return try [
                "http://127.0.0.1:\(port)/secretive?token=\(secret)&q=\(secret)&X-Amz-Signature=\(secret)#\(secret)",
                "http://ada:\(secret)@127.0.0.1:\(port)/secretive",
                "http://ada:\(secret)@127.0.0.1:1/secretive?\(secret)",
                "http://no-such-host.invalid/secretive?sig=\(secret)",
            ].map { try #require(URL(string: $0)) }
        }

        private static func contents(of folder: URL) throws -> [[UInt8]] {
            let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: [.isRegularFileKey])
            return try (files?.compactMap { $0 as? URL } ?? []).filter {
                try $0.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true
            }.map { url in
                let bytes = [UInt8](try Data(contentsOf: url))
                return (try? Gzip.decompress(bytes, limit: 1 << 24)) ?? bytes
            }
        }

        private static func hasSecret(_ bytes: [UInt8]) -> Bool {
            String(decoding: bytes, as: UTF8.self).contains(secret.prefix(8))
        }
    }
}
