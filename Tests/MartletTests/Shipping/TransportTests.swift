import Foundation
import FoundationNetworking
import HTTPTypes
import InMemoryLogging
import Logging
import MartletTelemetry
import Testing

@testable import Martlet

extension AgentTests {
    /// Properties of every transport.
    @Suite struct TransportTests {
        typealias Transport = MartletConfiguration.Transport

        @Test(arguments: Transport.allCases, MartletConfiguration.Capture.allCases)
        func ownUploadsAreNeitherCountedNorTraced(transport: Transport, capture: MartletConfiguration.Capture)
            async throws
        {
            try await withAgent({
                $0.transport = transport
                $0.capture = capture
                $0.sampleRate = 1
            }) { agent, collector, base in
                let configuration = URLSessionConfiguration.default
                configuration.captureWithMartlet()
                let session = URLSession(configuration: configuration)
                for _ in 1...3 {
                    _ = try await session.data(from: base / "hello/x")
                    await agent.flush()
                }
                #expect(agent.status.transport == transport)
                #expect(agent.status.ledger == .init(captured: 3, delivered: 3))
                #expect(agent.status.inFlight == 0)
                let spans = try collector.spans()
                #expect(spans.count == 3)
                #expect(collector.received.count == 6)
                #expect(collector.received.allSatisfy { !$0.headers.contains("traceparent") })
            }
        }

        @Test(arguments: Transport.allCases) func everyUploadHasTheConfiguredHeaders(transport: Transport) async throws
        {
            let log = InMemoryLogHandler()
            try await withAgent({
                $0.transport = transport
                $0.sampleRate = 1
                $0.token = "t"
                $0.headers = [
                    "api-key": "k=1, 2", "AUTHORIZATION": "Basic x", "user-agent": "shop", "Content-Encoding": "br",
                    "Martlet-Batch": "x", "x": "a\r\nb: c",
                ]
                $0.logger = Logger(label: "test", factory: { _ in log })
            }) { agent, collector, base in
                _ = try await URLSession.shared.data(from: base / "hello/x")
                await agent.flush()
                #expect(Set(collector.received.map(\.path)) == ["/v1/metrics", "/v1/traces"])
                for post in collector.received {
                    #expect(HTTPField.Name("api-key").map { post.fields[values: $0] } == ["k=1, 2"])
                    #expect(post.fields[values: .authorization] == ["Bearer t"])
                    #expect(post.fields[values: .userAgent] == ["shop"])
                    #expect(post.fields[values: .contentEncoding] == ["gzip"])
                    #expect(post.batch != "x")
                    #expect(!post.headers.contains("b"))
                }
                #expect(agent.status.ledger == .init(captured: 1, delivered: 1))
            }
            let warnings = log.entries.filter { $0.level >= .warning }.map { "\($0.message)" }
            #expect(warnings.contains { $0.hasSuffix("which are not allowed: Content-Encoding, Martlet-Batch, x") })
        }

        @Test(arguments: Transport.allCases) func challengeAndRedirectCountAsAnswers(transport: Transport) async throws
        {
            try await withAgent({
                $0.transport = transport
                $0.sampleRate = 0
            }) { agent, collector, base in
                collector.answer(401, headers: [.wwwAuthenticate: "Basic realm=\"collector\""])
                collector.answer(401, headers: [.wwwAuthenticate: "Digest realm=\"collector\", nonce=\"1\""])
                collector.answer(307, headers: [.location: "/v1/traces"])
                collector.answer(302, headers: [.location: "/hello/elsewhere"])
                _ = try await URLSession.shared.data(from: base / "hello/x")
                for status in [401, 401, 307, 302] {
                    await agent.flush()
                    #expect(agent.status.uploadError == "status \(status)")
                    #expect(agent.status.ledger == .init(captured: 1, waiting: 1))
                }
                await agent.flush()
                #expect(collector.received.map(\.path) == Array(repeating: "/v1/metrics", count: 5))
                #expect(agent.status.ledger == .init(captured: 1, delivered: 1))
            }
        }

        @Test(arguments: Transport.allCases) func cookiesAreNeitherStoredNorSent(transport: Transport) async throws {
            try await withAgent({
                $0.transport = transport
                $0.sampleRate = 0
            }) { agent, collector, base in
                let name = "martlet-\(transport)"
                HTTPCookie(properties: [.name: name, .value: "1", .domain: "127.0.0.1", .path: "/"])
                    .map(HTTPCookieStorage.shared.setCookie)
                collector.answer(200, headers: [.setCookie: "\(name)-of-the-collector=1; Max-Age=600; Path=/"])
                for _ in 1...2 {
                    _ = try await URLSession.shared.data(from: base / "hello/x")
                    await agent.flush()
                }
                #expect(collector.received.count == 2)
                #expect(collector.received.allSatisfy { !$0.headers.contains("cookie") })
                let kept = HTTPCookieStorage.shared.cookies(for: base) ?? []
                #expect(!kept.contains { $0.name == "\(name)-of-the-collector" })
                kept.forEach(HTTPCookieStorage.shared.deleteCookie)
            }
        }

        @Test(arguments: Transport.allCases)
        func longAnswerIsKeptUpToALimit(transport: Transport) async throws {
            try await withAgent { _, collector, base in
                collector.answer(200, body: Array(repeating: 7, count: 1 << 20))
                let end = await Self.post(to: base, over: transport, timeout: .seconds(10))
                guard case .answered(let answer) = end else { return #expect(Bool(false)) }
                #expect(answer.status == 200)
                #expect(answer.body.count == MartletLimits.answerBody)
                #expect(answer.body.allSatisfy { $0 == 7 })
            }
        }

        /// `URLSession` supports only time-outs in whole seconds; this one is shorter.
        @Test func timeOutMayBeAFractionOfASecond() async throws {
            try await withAgent { _, collector, base in
                collector.isSilent.store(true, ordering: .relaxed)
                let end = await Self.post(to: base, over: .urlSession, timeout: .milliseconds(300))
                #expect(end == .timedOut(reason: "no answer in time"))
            }
        }

        /// Posts on a separate thread, like the agent.
        private static func post(to base: URL, over transport: Transport, timeout: Duration) async -> UploadEnd? {
            await withCheckedContinuation { done in
                let thread = Thread {
                    let way: (any UploadTransport)? = transport == .libcurl ? LibcurlTransport() : URLSessionTransport()
                    let url = (base / "v1/metrics").absoluteString
                    way?.start(Upload(url: url, headers: [], body: [1], timeout: timeout))
                    var end: UploadEnd?
                    while let way, end == nil { end = way.proceed(for: .seconds(1)) }
                    way?.cancel()
                    done.resume(returning: end)
                }
                thread.start()
            }
        }
    }
}
