import Fixtures
import Foundation
import FoundationNetworking
import Hummingbird
import MartletOTLP
import Testing

@testable import Martlet

extension AgentTests {
    /// The phases of a request to a server that takes a known time for each part of its answer.
    @Suite struct PhaseTests {
        /// How long the server waits before the head of an answer, and between its head and its body, in milliseconds.
        private static let (thinking, telling) = (60, 40)

        /// Returns the shortest time that the agent may measure. It measures at the other end of the connection, so a
        /// busy machine can shift both the start and the end.
        private static func seen(of milliseconds: Int) -> Double { Double(milliseconds) * 0.75 }

        enum Sending: String, CaseIterable {
            case get, postOfData, putOf10MB, putOfAFile, postOfAStream, postWithADelegate, redirectedPost, keptPost
        }

        @Test(arguments: Sending.allCases, [MartletConfiguration.Capture.automatic, .explicit])
        func timeToTheHeadIsFirstByteAndTheRestIsTransfer(
            of sending: Sending, capture: MartletConfiguration.Capture
        ) async throws {
            try await withAgent({
                ($0.sampleRate, $0.capture) = (1, capture)
                $0.include = ["*/slow"]
                if sending == .keptPost { $0.include = ["*/slow", "*/hello/*"] }
                if sending == .redirectedPost { $0.include = ["*/moved"] }
            }) { agent, collector, _ in
                try await LoopbackServer.run(Self.slowService()) { base in
                    try await Self.send(sending, to: base)
                    await agent.flush()
                    let seen =
                        "\(agent.status), \(try collector.counts()), \(collector.received.map { ($0.path, $0.status) })"
                    let span = try #require(
                        try collector.spans().last { $0.name.hasSuffix("/slow") || $0.name.hasSuffix("/moved") },
                        "\(seen)")
                    let phases = span.phaseMilliseconds
                    let duration = Double(span.endTimeUnixNano - span.startTimeUnixNano) / 1e6
                    let (head, rest) = (phases["first_byte"] ?? 0, phases["transfer"] ?? 0)
                    #expect(head >= Self.seen(of: Self.thinking))
                    #expect(head + rest >= Self.seen(of: Self.thinking + Self.telling))
                    #expect(phases.values.reduce(0, +) <= duration + 1e-6)
                    if sending == .keptPost { #expect(phases["connect"] == nil) }
                    if sending == .redirectedPost { #expect(phases["queue"] ?? 0 >= Self.seen(of: Self.thinking)) }
                }
            }
        }

        private static func send(_ sending: Sending, to base: URL) async throws {
            let configuration = URLSessionConfiguration.ephemeral
            configuration.captureWithMartlet()
            let session = URLSession(configuration: configuration)
            var request = URLRequest(url: base / "slow")
            request.httpMethod =
                sending == .get ? "GET" : sending == .putOf10MB || sending == .putOfAFile ? "PUT" : "POST"
            let body = Data(repeating: UInt8(ascii: "x"), count: sending == .putOf10MB ? 10 << 20 : 1000)
            switch sending {
            case .get: _ = try await session.data(for: request)
            case .putOf10MB: _ = try await session.upload(for: request, from: body)
            case .putOfAFile:
                let folder = try TemporaryFolder()
                try body.write(to: folder.url / "body")
                _ = try await session.upload(for: request, fromFile: folder.url / "body")
            case .postOfAStream:
                request.httpBodyStream = InputStream(data: body)
                _ = try await session.data(for: request)
            case .postWithADelegate:
                request.httpBody = body
                let collector = DataCollector()
                let session = URLSession(configuration: configuration, delegate: collector, delegateQueue: nil)
                _ = await collector.data(of: session.dataTask(with: request))
                session.finishTasksAndInvalidate()
            case .redirectedPost:
                request.url = base / "moved"
                request.httpBody = body
                _ = try await session.data(for: request)
            case .keptPost:
                _ = try await session.data(from: base / "hello/kept")
                request.httpBody = body
                _ = try await session.data(for: request)
            case .postOfData:
                request.httpBody = body
                _ = try await session.data(for: request)
            }
            session.finishTasksAndInvalidate()
        }

        private static func slowService() -> Router<BasicRequestContext> {
            let router = Router()
            router.get("hello/:name") { _, _ in "hello" }
            for method in [.get, .post, .put] as [HTTPRequest.Method] {
                router.on("slow", method: method) { request, _ in
                    _ = try await request.body.collect(upTo: 1 << 24)
                    try await Task.sleep(for: .milliseconds(thinking))
                    return Response(
                        status: .ok,
                        body: .init { writer in
                            try await writer.write(ByteBuffer(string: "head"))
                            try await Task.sleep(for: .milliseconds(telling))
                            try await writer.write(ByteBuffer(string: "rest"))
                            try await writer.finish(nil)
                        })
                }
            }
            router.post("moved") { request, _ in
                _ = try await request.body.collect(upTo: 1 << 24)
                try await Task.sleep(for: .milliseconds(thinking))
                return Response(status: .seeOther, headers: [.location: "/slow"])
            }
            return router
        }
    }
}

extension OTLPSpan {
    fileprivate var phaseMilliseconds: [String: Double] {
        let prefix = "martlet.phase."
        return attributes.filter { $0.key.hasPrefix(prefix) }.reduce(into: [:]) {
            $0[String($1.key.dropFirst(prefix.count))] = $1.value.doubleValue * 1000
        }
    }
}
