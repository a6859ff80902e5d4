import Fixtures
import Foundation
import HTTPTypes
import Hummingbird
import InMemoryLogging
import Logging
import Synchronization

@testable import Martlet

/// Counts arrivals of requests, or permissions for them to leave. A test can wait for each.
final class Arrivals: Sendable {
    private let state = Mutex<(waiting: [@Sendable () -> Void], arrived: Int)>(([], 0))

    /// Calls `action` at the next arrival, or at once if an earlier arrival was not awaited.
    func onArrival(_ action: @escaping @Sendable () -> Void) {
        let isNow = state.withLock { state in
            if state.arrived > 0 { state.arrived -= 1; return true }
            state.waiting.append(action)
            return false
        }
        if isNow { action() }
    }

    func arrive() {
        let action = state.withLock { state -> (@Sendable () -> Void)? in
            if state.waiting.isEmpty { state.arrived += 1; return nil }
            return state.waiting.removeFirst()
        }
        action?()
    }

    /// Returns at the next arrival, or when the task is cancelled.
    func next() async {
        let (arrived, arrival) = AsyncStream.makeStream(of: Never.self)
        onArrival { arrival.finish() }
        for await _ in arrived {}
    }

    func forget() { state.withLock { $0 = ([], 0) } }
}

/// Arrivals of requests at `/never` and `/held`, and of posts to a silent collector.
let arrivals = Arrivals()

/// Permissions that requests at `/held` wait for.
let departures = Arrivals()

/// Runs `body` with an agent that ships to a stub collector, which also serves the requests. By default the agent keeps
/// only the details of failed requests, so that the number of posts is deterministic.
func withAgent(
    _ change: (inout MartletConfiguration) -> Void = { _ in },
    installing install: @escaping @Sendable (MartletConfiguration.Capture) -> EffectiveCapture = EffectiveCapture
        .install,
    _ body: @escaping @Sendable (MartletAgent, StubCollector, URL) async throws -> Void
) async throws {
    let collector = StubCollector()
    let directory = try TemporaryFolder()
    var configuration = MartletConfiguration()
    configuration.bufferDirectory = directory.url
    configuration.interval = .seconds(60)
    configuration.sampleRate = 0
    configuration.transport = MartletConfiguration.fromEnvironment(TestedTransport.environment).configuration.transport
    configuration.logger = Logger(label: "test", factory: { _ in InMemoryLogHandler() })
    change(&configuration)
    let changed = configuration
    try await LoopbackServer.run(service(with: collector)) { base in
        var configuration = changed
        configuration.collector = base
        collector.port.store(base.port ?? 0, ordering: .relaxed)
        let agent = MartletAgent.start(configuration, installing: install)
        do { try await body(agent, collector, base) } catch {
            await agent.shutdown()
            throw error
        }
        await agent.shutdown()
    }
}

func service(with collector: StubCollector) -> Router<BasicRequestContext> {
    let router = Router()
    collector.addRoutes(to: router)
    router.get("hello/:name") { _, _ in "hello" }
    router.get("status/:status") { _, context in
        Response(status: .init(code: Int(context.parameters.get("status")?.dropFirst() ?? "") ?? 500))
    }
    router.get("redirect") { _, _ in Response(status: .found, headers: [.location: "/hello/redirected"]) }
    router.post("echo") { request, _ in
        Response(status: .ok, body: .init(byteBuffer: try await request.body.collect(upTo: 1 << 24)))
    }
    for (path, challenge) in [
        ("basic", "Basic realm=\"engine\""), ("basic-utf8", "Basic charset=\"UTF-8\", realm=\"engine\""),
        ("basic-realmless", "Basic realm="),
    ] {
        router.get(RouterPath(path)) { request, _ in
            request.headers[.authorization] == "Basic " + Data("ada:lovelace".utf8).base64EncodedString()
                ? Response(status: .ok) : Response(status: .unauthorized, headers: [.wwwAuthenticate: challenge])
        }
    }
    router.get("bearer") { _, _ in
        Response(status: .unauthorized, headers: [.wwwAuthenticate: "Bearer realm=\"engine\""])
    }
    router.get("wordy") { _, _ in
        var headers = HTTPFields()
        for number in 0..<64 {
            if let name = HTTPField.Name("X-\(number)") { headers[name] = String(repeating: "word ", count: 200) }
        }
        return Response(status: .ok, headers: headers)
    }
    router.post("secretive") { _, _ in
        Response(
            status: .ok, headers: [.contentType: "application/json", .setCookie: "session=hunter2x9f8e7d6c5b"],
            body: .init(byteBuffer: ByteBuffer(string: AgentTests.DetailContentsTests.secretiveJSON)))
    }
    router.get("trace") { request, _ in
        ["traceparent", "tracestate"].compactMap { name in
            HTTPField.Name(name).flatMap { request.headers[values: $0].joined(separator: ",") }
        }.joined(separator: "\n")
    }
    router.get("redirect-to") { request, _ in
        Response(status: .found, headers: [.location: request.uri.queryParameters.get("url") ?? "/"])
    }
    router.get("redirect-to-trace") { _, _ in Response(status: .found, headers: [.location: "/trace"]) }
    arrivals.forget()
    departures.forget()
    router.get("never") { _, _ -> String in
        arrivals.arrive()
        try await Task.sleep(for: .seconds(600))
        return ""
    }
    router.get("held") { _, _ -> String in
        arrivals.arrive()
        await departures.next()
        return "held"
    }
    return router
}

func / (base: URL, path: String) -> URL { base.appendingPathComponent(path) }

extension StubCollector {
    /// Returns `endpoint status error` for each acknowledged series.
    func outcomes() throws -> Set<String> {
        Set(
            try points().map { point in
                let attributes = point.attributes.reduce(into: [:]) { $0[$1.key] = $1.value }
                let status = attributes["http.response.status_code"].map { String($0.intValue) } ?? "-"
                return "\(attributes["url.template"]?.stringValue ?? "") \(status) "
                    + (attributes["error.type"]?.stringValue ?? "-")
            })
    }
}
