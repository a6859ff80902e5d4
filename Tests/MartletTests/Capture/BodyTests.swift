import Fixtures
import Foundation
import FoundationNetworking
import Testing

@testable import Martlet

extension AgentTests {
    /// The bodies in kept details ("Kept bodies" in `docs/capture.md`).
    @Suite struct BodyTests {
        @Test(arguments: Kind.allCases, [MartletConfiguration.Capture.automatic, .explicit])
        func bodyIsKeptIfItIsInMemory(kind: Kind, capture: MartletConfiguration.Capture) async throws {
            try await withAgent({
                $0.capture = capture
                $0.sampleRate = 1
                $0.captureBodies = .all
            }) { agent, collector, base in
                try await kind.load(base / "secretive")
                await agent.flush()
                let span = try #require(try collector.spans().first)
                let bodies = ["martlet.request.body", "martlet.response.body"].map { name in
                    span.attributes.first { $0.key == name }?.value.stringValue
                }
                #expect(bodies[0] == (kind.keeps.request ? "what is sent" : nil))
                #expect(bodies[1]?.contains("plain") == (kind.keeps.response ? true : nil))
            }
        }

        /// The ways to send and receive a body.
        enum Kind: CaseIterable {
            case dataAsync, dataHandler, dataDelegate
            case uploadAsync, uploadHandler, uploadDelegate, uploadOverABody, emptyUpload
            case uploadFile, stream, download

            var keeps: (request: Bool, response: Bool) {
                switch self {
                case .dataAsync, .dataHandler, .uploadAsync, .uploadHandler, .uploadOverABody: (true, true)
                case .dataDelegate, .uploadDelegate, .download: (true, false)
                case .uploadFile, .stream, .emptyUpload: (false, true)
                }
            }

            private static let body = Data("what is sent".utf8)

            func load(_ url: URL) async throws {
                var request = URLRequest(url: url)
                request.httpMethod = "POST"
                request.setValue("text/plain", forHTTPHeaderField: "Content-Type")
                let configuration = URLSessionConfiguration.ephemeral
                configuration.captureWithMartlet()
                let session = URLSession(configuration: configuration)
                switch self {
                case .dataAsync:
                    request.httpBody = Self.body
                    _ = try await session.data(for: request)
                case .dataHandler:
                    request.httpBody = Self.body
                    await ended { session.dataTask(with: request, completionHandler: $0) }
                case .dataDelegate:
                    request.httpBody = Self.body
                    await delegated(configuration) { $0.dataTask(with: request) }
                case .uploadAsync:
                    _ = try await session.upload(for: request, from: Self.body)
                case .uploadHandler:
                    await ended { session.uploadTask(with: request, from: Self.body, completionHandler: $0) }
                case .uploadDelegate:
                    await delegated(configuration) { $0.uploadTask(with: request, from: Self.body) }
                case .uploadOverABody:
                    request.httpBody = Data("what is not sent".utf8)
                    _ = try await session.upload(for: request, from: Self.body)
                case .emptyUpload:
                    _ = try await session.upload(for: request, from: Data())
                case .uploadFile:
                    let folder = try TemporaryFolder()
                    let file = folder.url.appendingPathComponent("body")
                    try Self.body.write(to: file)
                    _ = try await session.upload(for: request, fromFile: file)
                case .stream:
                    request.httpBodyStream = InputStream(data: Self.body)
                    _ = try await session.data(for: request)
                case .download:
                    request.httpBody = Self.body
                    let (file, _) = try await session.download(for: request)
                    try FileManager.default.removeItem(at: file)
                }
            }

            private func ended(
                _ make: (@escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void) -> URLSessionTask
            ) async {
                await withCheckedContinuation { done in make { _, _, _ in done.resume() }.resume() }
            }

            private func delegated(
                _ configuration: URLSessionConfiguration, _ make: (URLSession) -> URLSessionDataTask
            ) async {
                let collecting = DataCollector()
                let session = URLSession(configuration: configuration, delegate: collecting, delegateQueue: nil)
                _ = await collecting.data(of: make(session))
            }
        }
    }
}
