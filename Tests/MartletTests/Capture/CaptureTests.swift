import Fixtures
import Foundation
import FoundationNetworking
import Hummingbird
import InMemoryLogging
import Logging
import Martlet
import Synchronization
import Testing

/// Tests with an agent. A process has one agent, so these tests run one at a time.
@Suite(.serialized) struct AgentTests {}

extension AgentTests {
    @Suite struct CaptureTests {
        @Test(arguments: [MartletConfiguration.Capture.automatic, .explicit])
        func everyKindOfDataTaskOfEverySessionIsCounted(capture: MartletConfiguration.Capture) async throws {
            try await withAgent({ $0.capture = capture }) { agent, collector, base in
                #expect(agent.status.captureMode.rawValue == capture.rawValue)
                var expected: [String: UInt64] = [:]
                for (name, configuration) in Self.configurations {
                    if capture == .explicit { configuration.captureWithMartlet() }
                    for (kind, request) in Self.kinds(configuration) {
                        let data = await request(base.appendingPathComponent("hello/\(name)-\(kind)"))
                        #expect(data == Data("hello".utf8), "\(name)-\(kind)")
                        expected["/hello/\(name)-\(kind)"] = 1
                    }
                }
                await agent.flush()
                let seen = try collector.counts()
                #expect(seen == expected)
            }
        }

        @Test func requestThatOutlivesItsAgentIsCountedByTheNextAgent() async throws {
            try await withAgent { first, _, base in
                let (ends, end) = AsyncStream.makeStream(of: Never.self)
                let (arrived, arrival) = AsyncStream.makeStream(of: Never.self)
                let task = URLSession.shared.dataTask(with: base / "never") { _, _, _ in end.finish() }
                arrivals.onArrival { arrival.finish() }
                task.resume()
                for await _ in arrived {}
                await first.shutdown()

                let folder = try TemporaryFolder()
                var configuration = MartletConfiguration()
                configuration.collector = base
                configuration.bufferDirectory = folder.url
                let second = MartletAgent.start(configuration)
                task.cancel()
                for await _ in ends {}
                #expect(first.status.ledger.captured == 0)
                #expect(second.status.ledger.captured == 1)
                await second.shutdown()
                #expect(second.status.ledger.delivered == 1)
            }
        }

        @Test func sharedSessionIsCountedOnlyInAutomaticMode() async throws {
            for (capture, count) in [(MartletConfiguration.Capture.automatic, 1), (.explicit, 0)] {
                try await withAgent({ $0.capture = capture }) { agent, collector, base in
                    _ = try await URLSession.shared.data(from: base.appendingPathComponent("hello/x"))
                    await agent.flush()
                    let seen = try collector.counts().values.reduce(0, +)
                    #expect(seen == count)
                }
            }
        }

        @Test(arguments: [MartletConfiguration.Capture.automatic, .explicit])
        func answersAndErrorsReachTheCallerAndAreCounted(capture: MartletConfiguration.Capture) async throws {
            try await withAgent({ $0.capture = capture }) { agent, collector, base in
                let configuration = URLSessionConfiguration.default
                configuration.captureWithMartlet()
                let patient = URLSession(configuration: configuration)
                configuration.timeoutIntervalForRequest = 1
                let session = URLSession(configuration: configuration)
                for status in [200, 204, 404, 503] {
                    let (_, response) = try await patient.data(from: base.appendingPathComponent("status/x\(status)"))
                    #expect((response as? HTTPURLResponse)?.statusCode == status)
                }
                for (url, code) in [
                    (URL(string: "http://127.0.0.1:1/refused")!, URLError.cannotConnectToHost),
                    (base / "never", URLError.timedOut),
                ] {
                    let error = await #expect(throws: URLError.self) { try await session.data(from: url) }
                    #expect(error?.code == code)
                }
                await agent.flush()
                let seen = try collector.outcomes()
                #expect(
                    seen == [
                        "/status/{id} 200 -", "/status/{id} 204 -", "/status/{id} 404 404", "/status/{id} 503 503",
                        "/refused - connection_refused", "/never - timeout",
                    ])
            }
        }

        @Test(arguments: [MartletConfiguration.Capture.automatic, .explicit])
        func requestCancelledByItsCallerIsCountedAsCancelled(capture: MartletConfiguration.Capture) async throws {
            try await withAgent({ $0.capture = capture }) { agent, collector, base in
                let configuration = URLSessionConfiguration.default
                configuration.captureWithMartlet()
                let session = URLSession(configuration: configuration)
                let error = await withCheckedContinuation { done in
                    let task = session.dataTask(with: base.appendingPathComponent("never")) { _, _, error in
                        done.resume(returning: error)
                    }
                    task.resume()
                    arrivals.onArrival { task.cancel() }
                }
                #expect((error as? URLError)?.code == .cancelled)
                await agent.flush()
                let seen = try collector.outcomes()
                #expect(seen == ["/never - cancelled"])
            }
        }

        @Test func redirectIsOneRequestWithTheFinalStatusAndTheFirstEndpoint() async throws {
            try await withAgent { agent, collector, base in
                let (data, _) = try await URLSession.shared.data(from: base.appendingPathComponent("redirect"))
                #expect(data == Data("hello".utf8))
                await agent.flush()
                let seen = try collector.outcomes()
                #expect(seen == ["/redirect 200 -"])
            }
        }

        @Test func uploadsAndDownloadsWorkUnchanged() async throws {
            try await withAgent { agent, collector, base in
                let body = Data(repeating: 7, count: 200_000)
                var request = URLRequest(url: base.appendingPathComponent("echo"))
                request.httpMethod = "POST"
                let (echoed, _) = try await URLSession.shared.upload(for: request, from: body)
                #expect(echoed == body)
                let location: URL? = await withCheckedContinuation { done in
                    URLSession.shared.downloadTask(with: base.appendingPathComponent("hello/file")) { url, _, _ in
                        done.resume(
                            returning: url.flatMap { try? Data(contentsOf: $0) } == Data("hello".utf8) ? url : nil)
                    }.resume()
                }
                #expect(location != nil)
            }
        }

        @Test func reportedSizesMatchTheServersCounts() async throws {
            try await withAgent({ $0.sampleRate = 1 }) { agent, collector, base in
                var request = URLRequest(url: base.appendingPathComponent("echo"))
                request.httpMethod = "POST"
                request.httpBody = Data(repeating: 7, count: 1234)
                _ = try await URLSession.shared.data(for: request)
                await agent.flush()
                let span = try #require(try collector.spans().first)
                let sizes = span.attributes.filter { $0.key.hasSuffix("body.size") }.map(\.value.intValue)
                #expect(sizes == [1234, 1234])
                #expect(span.name == "POST /echo")
            }
        }

        @Test func nothingIsCountedWhileTheSwitchIsOff() async throws {
            try await withAgent { agent, collector, base in
                agent.isCapturing = false
                _ = try await URLSession.shared.data(from: base.appendingPathComponent("hello/off"))
                agent.isCapturing = true
                _ = try await URLSession.shared.data(from: base.appendingPathComponent("hello/on"))
                await agent.flush()
                let seen = try collector.counts()
                #expect(seen == ["/hello/on": 1])
            }
        }

        @Test(arguments: [MartletConfiguration.Capture.automatic, .explicit])
        func excludedRequestWorksAndIsNotCounted(capture: MartletConfiguration.Capture) async throws {
            try await withAgent({
                $0.capture = capture
                $0.include = ["127.0.0.1/hello/*"]
                $0.exclude = ["*/hello/private-*"]
            }) { agent, collector, base in
                let configuration = URLSessionConfiguration.default
                configuration.captureWithMartlet()
                let session = URLSession(configuration: configuration)
                for path in ["hello/seen", "hello/private-1", "status/x200"] {
                    let (_, response) = try await session.data(from: base / path)
                    #expect((response as? HTTPURLResponse)?.statusCode == 200)
                }
                await agent.flush()
                let seen = try collector.counts()
                #expect(seen == ["/hello/seen": 1])
            }
        }

        @Test func tlsToAPlainServerIsATLSError() async throws {
            try await withAgent { agent, collector, base in
                let url = try #require(URL(string: base.absoluteString.replacing("http:", with: "https:") + "/hello/x"))
                await #expect(throws: URLError.self) { try await URLSession.shared.data(from: url) }
                await agent.flush()
                let seen = try collector.outcomes()
                #expect(seen == ["/hello/x - tls"])
            }
        }

        @Test func mockProtocolOfTheServiceStillAnswersFirstAndIsNotCounted() async throws {
            try await withAgent { agent, collector, base in
                let configuration = URLSessionConfiguration.default
                configuration.protocolClasses = [Mock.self] + (configuration.protocolClasses ?? [])
                configuration.captureWithMartlet()
                let (data, _) = try await URLSession(configuration: configuration).data(from: base / "hello/mocked")
                #expect(data == Data("mock".utf8))
                await agent.flush()
                let seen = try collector.counts()
                #expect(seen == [:])
            }
        }

        /// Named configurations to make sessions from.
        static var configurations: [(String, URLSessionConfiguration)] {
            let custom = URLSessionConfiguration.default
            custom.httpAdditionalHeaders = ["X-Custom": "1"]
            custom.timeoutIntervalForRequest = 30
            custom.httpMaximumConnectionsPerHost = 1
            return [("default", .default), ("ephemeral", .ephemeral), ("custom", custom)]
        }

        /// Returns named ways to make a data request; each returns the body.
        static func kinds(
            _ configuration: URLSessionConfiguration
        ) -> [(String, @Sendable (URL) async -> Data?)] {
            let session = URLSession(configuration: configuration)
            let collecting = DataCollector()
            let delegated = URLSession(configuration: configuration, delegate: collecting, delegateQueue: nil)
            return [
                ("async", { try? await session.data(from: $0).0 }),
                ("async-request", { try? await session.data(for: URLRequest(url: $0)).0 }),
                (
                    "handler",
                    { url in
                        await withCheckedContinuation { done in
                            session.dataTask(with: url) { data, _, _ in done.resume(returning: data) }.resume()
                        }
                    }
                ),
                ("delegate", { url in await collecting.data(of: delegated.dataTask(with: url)) }),
            ]
        }
    }
}

/// A protocol that answers without a network, as in a service's tests.
private final class Mock: URLProtocol {
    override static func canInit(with request: URLRequest) -> Bool { true }
    override static func canonicalRequest(for request: URLRequest) -> URLRequest { request }
    override func stopLoading() {}
    override func startLoading() {
        guard let url = request.url,
            let response = HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: nil)
        else { return }
        client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
        client?.urlProtocol(self, didLoad: Data("mock".utf8))
        client?.urlProtocolDidFinishLoading(self)
    }
}
