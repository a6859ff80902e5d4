import Fixtures
import Foundation
import FoundationNetworking
import HTTPTypes
import Hummingbird
import Martlet
import Testing

/// Requests that a rule changes, with a real server.
@Suite struct RequestRuleTests {
    @Test func ruleAnswersTheCallerWithoutTheServer() async throws {
        var rule = MartletRule(name: "drill", match: .init(host: "payments.*", path: "/pay/{id}"))
        rule.respond = .init(status: 503, headers: ["Retry-After": "1"], body: Data("drill".utf8))
        try await withRules([rule]) { agent, _ in
            let url = try #require(URL(string: "https://payments.invalid/pay/7?x=1"))
            let (data, response) = try await URLSession.shared.data(from: url)
            let http = try #require(response as? HTTPURLResponse)
            #expect(http.statusCode == 503)
            #expect(http.url == url)
            #expect(http.value(forHTTPHeaderField: "Retry-After") == "1")
            #expect(data == Data("drill".utf8))
            let request = try #require(agent.requests.first)
            #expect(agent.requests.count == 1)
            #expect(request.rule == "drill")
            #expect(request.status == 503)
            #expect(request.host == "payments.invalid")
            #expect(request.port == 443)
        }
    }

    @Test func ruleAnswersOnlyAfterTheWholeBodyWasSent() async throws {
        var rule = MartletRule(match: .init(method: "POST"))
        rule.respond = .init(status: 201, body: Data("made".utf8))
        try await withRules([rule]) { agent, _ in
            var request = URLRequest(url: try #require(URL(string: "http://uploads.invalid/")))
            request.httpMethod = "POST"
            let body = Data(repeating: 7, count: 3_000_000)
            let (data, response) = try await URLSession.shared.upload(for: request, from: body)
            #expect((response as? HTTPURLResponse)?.statusCode == 201)
            #expect(data == Data("made".utf8))
            #expect(agent.requests.map(\.bytesSent) == [3_000_000])

            request.httpBodyStream = InputStream(data: body)
            let (again, _) = try await URLSession.shared.data(for: request)
            #expect(again == Data("made".utf8))
            #expect(agent.requests.map(\.rule) == ["1", "1"])
        }
    }

    @Test func redirectAnsweredByARuleIsFollowedToTheRealServer() async throws {
        try await withRules { base in
            var rule = MartletRule(name: "moved", match: .init(host: "old.invalid"))
            rule.respond = .init(status: 302, headers: ["Location": "\(base)/where"])
            return [rule]
        } body: { agent, base in
            let (data, response) = try await URLSession.shared.data(
                from: try #require(URL(string: "http://old.invalid/x")))
            #expect(String(decoding: data, as: UTF8.self).hasPrefix("127.0.0.1:"))
            #expect(response.url == base.appendingPathComponent("where"))
            #expect(agent.requests.map(\.rule) == ["moved"])
        }
    }

    @Test func connectRuleChangesTheAddressAndKeepsHost() async throws {
        try await withRules { base in
            var rule = MartletRule(match: .init(host: "catalog.invalid"))
            rule.connect = "127.0.0.1:\(base.port ?? 0)"
            return [rule]
        } body: { agent, _ in
            let url = try #require(URL(string: "http://catalog.invalid/where?q=1"))
            let (data, response) = try await URLSession.shared.data(from: url)
            #expect(String(decoding: data, as: UTF8.self) == "catalog.invalid")
            #expect(response.url == url)
            #expect(agent.requests.map(\.rule) == ["1"])
            #expect(agent.requests.map(\.host) == ["catalog.invalid"])
        }
    }

    @Test(arguments: ["http", "https"])
    func redirectRuleSendsTheRequestToAnotherHost(scheme: String) async throws {
        try await withRules { base in
            var rule = MartletRule(match: .init(host: "old.invalid"))
            rule.redirect = base
            return [rule]
        } body: { agent, base in
            let url = try #require(URL(string: "\(scheme)://old.invalid/where?q=1"))
            var request = URLRequest(url: url)
            request.httpMethod = "POST"
            request.httpBody = Data("kept".utf8)
            let (data, response) = try await URLSession.shared.data(for: request)
            #expect(String(decoding: data, as: UTF8.self) == "127.0.0.1:\(base.port ?? 0) q=1 kept")
            #expect(response.url == url)
            #expect(agent.requests.map(\.host) == ["old.invalid"])
            #expect(agent.requests.map(\.rule) == ["1"])
        }
    }

    @Test func redirectFromTheOtherHostIsFollowed() async throws {
        try await withRules { base in
            var rule = MartletRule(match: .init(host: "old.invalid"))
            rule.redirect = base
            return [rule]
        } body: { agent, base in
            let url = try #require(URL(string: "http://old.invalid/moved?to=\(base)/where"))
            let (data, response) = try await URLSession.shared.data(from: url)
            #expect(String(decoding: data, as: UTF8.self) == "127.0.0.1:\(base.port ?? 0)")
            #expect(response.url == base.appendingPathComponent("where"))
            #expect(agent.requests.count == 1)
        }
    }

    @Test func headerFieldsAreSetAndRemoved() async throws {
        var first = MartletRule()
        first.header = .init(
            set: ["X-Environment": "staging", "Accept": "text/plain"], remove: ["X-Secret", "User-Agent"])
        var second = MartletRule(name: "second")
        second.header = .init(set: ["X-Empty": ""])
        try await withRules([first, second]) { agent, base in
            var request = URLRequest(url: base.appendingPathComponent("fields"))
            request.setValue("hunter2", forHTTPHeaderField: "x-secret")
            request.setValue("application/json", forHTTPHeaderField: "accept")
            for _ in 1...2 {
                let (data, _) = try await URLSession.shared.data(for: request)
                let fields = String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init)
                #expect(fields.contains("X-Environment: staging"))
                #expect(fields.filter { $0.lowercased().hasPrefix("accept:") } == ["Accept: text/plain"])
                #expect(fields.contains { $0.hasPrefix("X-Empty:") })
                #expect(!fields.contains { $0.lowercased().hasPrefix("x-secret") })
                #expect(!fields.contains { $0.lowercased().hasPrefix("user-agent") })
                #expect(fields.contains { $0.lowercased().hasPrefix("traceparent:") })
            }
            #expect(agent.requests.map(\.rule) == ["1", "1"])
        }
    }

    @Test func delayedAnswerComesLater() async throws {
        var delayed = MartletRule(match: .init(path: "/where"))
        delayed.delay = .milliseconds(300)
        var answered = MartletRule(match: .init(host: "drill.invalid"))
        answered.delay = .milliseconds(300)
        answered.respond = .init(status: 200, body: Data(repeating: 1, count: 500_000))
        try await withRules([delayed, answered]) { agent, base in
            let (data, _) = try await URLSession.shared.data(from: base.appendingPathComponent("where"))
            #expect(String(decoding: data, as: UTF8.self).hasPrefix("127.0.0.1:"))
            let (answer, _) = try await URLSession.shared.data(
                from: try #require(URL(string: "https://drill.invalid/")))
            #expect(answer.count == 500_000)
            #expect(agent.requests.count == 2)
            #expect(agent.requests.allSatisfy { $0.duration >= .milliseconds(300) })
        }
    }

    @Test func requestTimesOutIfItsDelayIsLonger() async throws {
        var delayed = MartletRule()
        delayed.delay = .seconds(600)
        try await withRules([delayed]) { agent, base in
            var request = URLRequest(url: base.appendingPathComponent("where"))
            request.timeoutInterval = 1
            let error = await #expect(throws: URLError.self) { _ = try await URLSession.shared.data(for: request) }
            #expect(error?.code == .timedOut)
            #expect(agent.requests.map(\.errorType) == ["timeout"])
        }
    }

    @Test(arguments: MartletRule.Failure.allCases, [Duration.zero, .milliseconds(50)])
    func failureIsCountedUnderItsName(failure: MartletRule.Failure, delay: Duration) async throws {
        var rule = MartletRule(name: "drill", match: .init(host: "broken.invalid"))
        rule.fail = failure
        rule.delay = delay
        try await withRules([rule]) { agent, _ in
            for scheme in ["http", "https"] {
                let url = try #require(URL(string: "\(scheme)://broken.invalid/x"))
                _ = await #expect(throws: URLError.self) { _ = try await URLSession.shared.data(from: url) }
            }
            #expect(agent.requests.map(\.errorType) == [failure.rawValue, failure.rawValue])
            #expect(agent.requests.map(\.rule) == ["drill", "drill"])
            #expect(agent.requests.allSatisfy { $0.duration >= delay })
        }
    }

    @Test func blockedRequestFailsWithARefusedConnection() async throws {
        var rule = MartletRule(match: .init(path: "/where"))
        rule.block = true
        try await withRules([rule]) { agent, base in
            let error = await #expect(throws: URLError.self) {
                _ = try await URLSession.shared.data(from: base.appendingPathComponent("where"))
            }
            #expect(error?.code == .cannotConnectToHost)
            #expect(agent.requests.map(\.errorType) == ["connection_refused"])
        }
    }

    @Test func requestThatNoRuleMatchesIsNotMarked() async throws {
        var rule = MartletRule(match: .init(host: "other.invalid"))
        rule.block = true
        try await withRules([rule]) { agent, base in
            _ = try await URLSession.shared.data(from: base.appendingPathComponent("where"))
            #expect(agent.requests.map(\.rule) == [nil])
            #expect(agent.status.rules == 1)
        }
    }

    @Test func ifARuleIsInvalidNoneApply() async throws {
        var (right, wrong) = (MartletRule(), MartletRule())
        right.block = true
        wrong.connect = "nowhere"
        try await withRules([right, wrong]) { agent, base in
            _ = try await URLSession.shared.data(from: base.appendingPathComponent("where"))
            #expect(agent.status.rules == 0)
        }
    }

    // MARK: -

    private func withRules(
        _ rules: [MartletRule], _ body: @escaping @Sendable (MartletAgent, URL) async throws -> Void
    ) async throws {
        try await withRules({ _ in rules }, body: body)
    }

    private func withRules(
        _ rules: @escaping @Sendable (URL) -> [MartletRule],
        body: @escaping @Sendable (MartletAgent, URL) async throws -> Void
    ) async throws {
        let router = Router()
        router.get("where") { request, _ in request.head.authority ?? "" }
        router.post("where") { request, _ in
            let body = try await request.body.collect(upTo: 1 << 20)
            return "\(request.head.authority ?? "") \(request.uri.query ?? "") \(String(buffer: body))"
        }
        router.get("fields") { request, _ in
            request.headers.map { "\($0.name.rawName): \($0.value)" }.joined(separator: "\n")
        }
        router.get("moved") { request, _ in
            Response(status: .found, headers: [.location: request.uri.queryParameters.get("to") ?? ""])
        }
        try await LoopbackServer.run(router) { base in
            var configuration = MartletConfiguration()
            configuration.rules = rules(base)
            try await MartletAgent.inMemory(configuration) { try await body($0, base) }
        }
    }
}
