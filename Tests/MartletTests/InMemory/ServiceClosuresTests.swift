import Fixtures
import Foundation
import FoundationNetworking
import Hummingbird
import MartletTelemetry
import Synchronization
import Testing
import Tracing

@testable import Martlet

/// The closures of a configuration, and requests that the service records itself.
@Suite struct ServiceClosuresTests {
    private static let url =
        URL(string: "https://User:pw@API.example.com:8443/orders/17?q=1#x") ?? URL(fileURLWithPath: "/")
    private static let start = Date(timeIntervalSince1970: 1_700_000_000)

    private static func request(
        _ method: String = "POST", kind: MartletRequest.Kind = .client, endpoint: String = "", status: Int? = 201,
        errorType: String? = nil
    ) -> MartletRequest {
        MartletRequest(
            method, url, kind: kind, endpoint: endpoint, status: status, errorType: errorType, start: start,
            duration: .milliseconds(250), bytesSent: 7, bytesReceived: 9)
    }

    @Test func recordedRequestLooksLikeACapturedOne() async throws {
        try await MartletAgent.inMemory { agent in
            agent.record(Self.request())
            let request = try #require(agent.requests.first)
            #expect(request.kind == .client)
            #expect(request.method == "POST")
            #expect(request.host == "api.example.com")
            #expect(request.port == 8443)
            #expect(request.endpoint == "/orders/{id}")
            #expect(request.url == "https://API.example.com:8443/orders/17")
            #expect(request.status == 201)
            #expect(request.errorType == nil)
            #expect(!request.isFailure)
            #expect(request.start == Self.start)
            #expect(request.duration == .milliseconds(250))
            #expect(request.bytesSent == 7)
            #expect(request.bytesReceived == 9)
            // A captured request may be recorded unchanged.
            agent.record(request)
            #expect(agent.requests == [request, request])
        }
    }

    @Test func recordedRequestFailsByItsStatusOrItsErrorType() async {
        await MartletAgent.inMemory { agent in
            agent.record(Self.request(status: 503))
            agent.record(Self.request(status: nil, errorType: "timeout"))
            agent.record(Self.request(status: nil, errorType: "cancelled"))
            agent.record(Self.request(kind: .server, endpoint: "/orders/:order", status: 404))
            #expect(agent.requests.map(\.errorType) == ["503", "timeout", "cancelled", nil])
            #expect(agent.requests.map(\.isFailure) == [true, true, false, false])
            #expect(agent.requests.map(\.kind) == [.client, .client, .client, .server])
            #expect(agent.requests.last?.endpoint == "/orders/:order")
            #expect(agent.requests.last?.bytesSent == 7)
        }
    }

    @Test func recordedRequestWithOddValuesIsStillCounted() async {
        await MartletAgent.inMemory { agent in
            agent.record(
                MartletRequest(
                    "brew", URL(fileURLWithPath: "/x"), status: -4, errorType: "", start: .distantPast,
                    duration: .seconds(-1), bytesSent: .max))
            agent.record(MartletRequest("GET", Self.url, start: .distantFuture, duration: .seconds(Int64.max)))
            #expect(agent.requests.map(\.method) == ["_OTHER", "GET"])
            #expect(agent.requests.first?.duration == .zero)
        }
    }

    @Test func nothingIsRecordedIfCaptureIsOffOrThePatternsExcludeIt() async {
        var configuration = MartletConfiguration()
        configuration.exclude = ["*.example.com:8443/orders/*"]
        await MartletAgent.inMemory(configuration) { agent in
            agent.record(Self.request())
            agent.record(Self.request(kind: .server))
            agent.isCapturing = false
            agent.record(Self.request(kind: .server))
            #expect(agent.requests.map(\.kind) == [.server])
        }
        await MartletAgent.inMemory { agent in
            await agent.shutdown()
            agent.record(Self.request())
            #expect(agent.requests.isEmpty)
        }
    }

    @Test func spanAroundARecordedRequestIsNotCountedAsWell() async {
        await MartletAgent.inMemory { agent in
            agent.tracer.withSpan("order", ofKind: .client) { span in
                span.attributes["http.request.method"] = "POST"
                agent.record(Self.request())
            }
            #expect(agent.requests.count == 1)
        }
    }

    @Test func closureNamesEndpointsOfEveryInstrument() async throws {
        var configuration = MartletConfiguration()
        configuration.maxEndpoints = 2
        configuration.name = { target in
            if target.path == "/hello/empty" { return "" }
            return target.path.hasPrefix("/hello/") ? "\(target.isReceived ? "in" : "out") \(target.method)" : nil
        }
        let named = configuration
        let router = Router()
        router.get("hello/**") { _, _ in "x" }
        try await LoopbackServer.run(router) { base in
            try await MartletAgent.inMemory(named) { agent in
                for path in ["hello/a/17", "hello/empty"] {
                    _ = try await URLSession.shared.data(from: base / path)
                }
                agent.tracer.withSpan("x", ofKind: .server) { span in
                    span.attributes["http.request.method"] = "PUT"
                    span.attributes["url.path"] = "/hello/b"
                    span.attributes["http.route"] = "/hello/:name"
                }
                agent.record(Self.request(endpoint: "/given"))
                let names = agent.requests.map(\.endpoint)
                // The names count towards the budgets of outgoing and incoming requests.
                #expect(names == ["out GET", "/hello/empty", "in PUT", "{other}"])
            }
        }
    }

    @Test func closureExcludesRequestsOnEitherSide() async throws {
        var configuration = MartletConfiguration()
        configuration.ignore = { $0.path.hasPrefix("/health") || $0.host == "api.example.com" }
        let ignoring = configuration
        let traced = Mutex<[Bool]>([])
        let router = Router()
        router.get("**") { request, _ in
            let isTraced = request.headers.contains { $0.name.rawName.lowercased() == "traceparent" }
            traced.withLock { $0.append(isTraced) }
            return "x"
        }
        try await LoopbackServer.run(router) { base in
            try await MartletAgent.inMemory(ignoring) { agent in
                for path in ["health/live", "orders"] { _ = try await URLSession.shared.data(from: base / path) }
                for path in ["/health", "/orders"] {
                    agent.tracer.withSpan("x", ofKind: .server) { span in
                        span.attributes["http.request.method"] = "GET"
                        span.attributes["url.path"] = path
                    }
                }
                agent.record(Self.request())
                #expect(agent.requests.map(\.endpoint) == ["/orders", "{unmatched}"])
                #expect(agent.requests.map(\.kind) == [.client, .server])
            }
        }
        #expect(traced.withLock { $0 } == [false, true])
    }

    /// The closure uses everything that takes one of the agent's locks, and records a request, for which it would be
    /// called again.
    @Test func closureMayUseTheAgentAndIsNotCalledForItsOwnRequests() async {
        let holder = Mutex<MartletAgent?>(nil)
        let calls = Mutex(0)
        var configuration = MartletConfiguration()
        let decide: @Sendable (MartletTarget) -> Void = { _ in
            calls.withLock { $0 += 1 }
            guard let agent = holder.withLock({ $0 }) else { return }
            _ = agent.status
            _ = agent.requests
            agent.isCapturing = true
            agent.tracer.withSpan("inner") { _ in }
            agent.record(Self.request(endpoint: "/inner"))
        }
        configuration.name = {
            decide($0); return "/named"
        }
        configuration.ignore = {
            decide($0); return false
        }
        await MartletAgent.inMemory(configuration) { agent in
            holder.withLock { $0 = agent }
            agent.record(Self.request())
            #expect(agent.requests.map(\.endpoint) == ["/inner", "/inner", "/named"])
            #expect(calls.withLock { $0 } == 2)
            holder.withLock { $0 = nil }
        }
    }

    /// A thread that waits in the closure holds nothing that another thread needs.
    @Test func waitingClosureBlocksNoOtherRequest() async {
        let (asked, arrival) = AsyncStream.makeStream(of: Void.self)
        let gate = DispatchSemaphore(value: 0)
        var configuration = MartletConfiguration()
        configuration.name = { target in
            guard target.method == "DELETE" else { return nil }
            arrival.yield()
            gate.wait()
            return "/late"
        }
        await MartletAgent.inMemory(configuration) { agent in
            let scope = CaptureScope.current
            let ended = AsyncStream.makeStream(of: Void.self)
            Thread {
                CaptureScope.$current.withValue(scope) { agent.record(Self.request("DELETE")) }
                ended.continuation.finish()
            }.start()
            for await _ in asked { break }
            agent.record(Self.request())
            #expect(agent.requests.map(\.endpoint) == ["/orders/{id}"])
            #expect(agent.status.inFlight == 0)
            gate.signal()
            for await _ in ended.stream {}
            #expect(agent.requests.map(\.endpoint) == ["/orders/{id}", "/late"])
        }
    }
}
