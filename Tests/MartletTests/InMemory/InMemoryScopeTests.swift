import Fixtures
import Foundation
import FoundationNetworking
import Hummingbird
import Testing
import Tracing

@testable import Martlet

extension AgentTests {
    @Suite struct InMemoryScopeTests {
        @Test func parallelScopesSeeOnlyTheirOwnRequests() async throws {
            try await withThrowingTaskGroup(of: Void.self) { scopes in
                for number in 0..<12 { scopes.addTask { try await Self.expectOwnRequests(number) } }
                try await scopes.waitForAll()
            }
        }

        private static func expectOwnRequests(_ number: Int) async throws {
            try await serve { base in
                let own = "/test-\(number)"
                try await MartletAgent.inMemory { agent in
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        for _ in 0..<20 {
                            group.addTask { _ = try await URLSession.shared.data(from: base / "test-\(number)") }
                        }
                        try await group.waitForAll()
                    }
                    await load(base / "test-\(number)")
                    try await Task { _ = try await URLSession.shared.data(from: base / "test-\(number)") }.value
                    let request = agent.tracer.startSpan("GET", ofKind: .client)
                    request.attributes["http.request.method"] = "GET"
                    request.attributes["url.full"] = "https://spans.example\(own)"
                    request.end()
                    #expect(agent.requests.map(\.endpoint) == Array(repeating: own, count: 23))
                    #expect(agent.requests.filter { $0.host == "spans.example" }.count == 1)
                }
            }
        }

        @Test func startWithinAScopeGetsItsAgentAndCannotEndIt() async throws {
            try await Self.serve { base in
                try await MartletAgent.inMemory { agent in
                    let services = MartletAgent.start()
                    await services.shutdown()
                    _ = try await URLSession.shared.data(from: base / "x")
                    #expect(services.requests == agent.requests)
                    #expect(agent.requests.count == 1)
                }
            }
        }

        @Test func switchAffectsOnlyItsScope() async throws {
            try await Self.serve { base in
                try await MartletAgent.inMemory { outer in
                    try await MartletAgent.inMemory { inner in
                        inner.isCapturing = false
                        #expect(!inner.isCapturing && outer.isCapturing)
                        _ = try await URLSession.shared.data(from: base / "unseen")
                        inner.isCapturing = true
                        _ = try await URLSession.shared.data(from: base / "inner")
                        #expect(inner.requests.map(\.endpoint) == ["/inner"])
                    }
                    _ = try await URLSession.shared.data(from: base / "outer")
                    #expect(outer.requests.map(\.endpoint) == ["/outer"])
                }
            }
        }

        /// A task belongs to the scope in which it was resumed, regardless of where it was created and where it ends.
        @Test func requestThatEndsAfterItsScopeBelongsToNoAgent() async throws {
            try await Self.serve { base in
                let (ends, end) = AsyncStream.makeStream(of: Never.self)
                let agent = await MartletAgent.inMemory { agent in
                    URLSession.shared.dataTask(with: base / "late") { _, _, _ in end.finish() }.resume()
                    return agent
                }
                let before = agent.requests
                for await _ in ends {}
                #expect(agent.requests == before)
                #expect(!agent.isCapturing)
            }
        }

        @Test func errorThrownByTheBodyReachesTheCaller() async {
            await #expect(throws: CancellationError.self) {
                try await MartletAgent.inMemory { _ in throw CancellationError() }
            }
        }

        private static func load(_ url: URL) async {
            await withCheckedContinuation { told in
                URLSession.shared.dataTask(with: url) { _, _, _ in told.resume() }.resume()
            }
        }

        private static func serve(_ body: @escaping @Sendable (URL) async throws -> Void) async throws {
            let router = Router()
            router.get(":name") { _, _ in "done" }
            try await LoopbackServer.run(router, body)
        }
    }
}
