import HummingbirdTesting
import MartletServer
import MartletTelemetry
import Synchronization
import Testing

@Suite struct TokenTests {
    private let tokens = ServerTokens(ingest: "may-send", read: "may-read")

    @Test(arguments: [nil, "", "may-read", "may-sen", "may-send2", "MAY-SEND"])
    func sendingNeedsTheIngestToken(token: String?) async throws {
        try await withServer(tokens: tokens) { client in
            let refused = try await client.post(try Samples.body(), token: token)
            #expect(refused.status.code == 401)
            #expect(try !refused.reason.isEmpty)
            #expect(refused.headers[.wwwAuthenticate] == nil)
            #expect(try await client.post(try Samples.body(), token: "may-send").status == .ok)
        }
    }

    @Test(arguments: [nil, "may-send", "may-rea"])
    func readingNeedsTheReadToken(token: String?) async throws {
        try await withServer(tokens: tokens) { client in
            for path in ["/api/v1/report", "/api/v1/agents"] {
                let refused = try await client.get(path, token: token)
                #expect(refused.status.code == 401)
                #expect(refused.headers[.wwwAuthenticate] == nil)
                #expect(try await client.get(path, token: "may-read").status == .ok)
            }
        }
    }

    @Test func eachOfSeveralTokensMaySend() async throws {
        let tokens = IngestTokens(["old", "new"])
        try await withServer(tokens: ServerTokens(ingest: tokens)) { client in
            for token in ["old", "new"] {
                let response = try await client.post(try Samples.body(), token: token)
                #expect(response.status == .ok)
            }
            tokens.replace(with: ["new"])
            #expect(try await client.post(try Samples.body(), token: "old").status == .unauthorized)
            #expect(try await client.post(try Samples.body(), token: "new").status == .ok)
        }
    }

    /// The number of answers that were slowed.
    private final class Slowed: Sendable {
        let count = Atomic(0)
    }

    /// Runs a server that counts the answers that it would slow.
    private func withCountingServer(
        _ slowed: Slowed, now: @escaping @Sendable () -> UnixNanoseconds = { Samples.time(60) },
        _ body: @Sendable (any TestClientProtocol) async throws -> Void
    ) async throws {
        var limits = ServerLimits()
        limits.delayAfterWrongTokens = { slowed.count.add(1, ordering: .relaxed) }
        try await withServer(tokens: tokens, serverLimits: limits, now: now, body)
    }

    /// Sends as many wrong tokens as are answered at once.
    private func guess(port: Int?) async throws {
        for number in 0..<10 {
            let answer = try await post(token: "guess-\(number)", port: port)
            #expect(answer?.status == 401)
        }
    }

    @Test func rightTokensPassWhileWrongOnesOfTheirAddressAreSlowed() async throws {
        let gate = Gate()
        var limits = ServerLimits()
        limits.delayAfterWrongTokens = { await gate.pass() }
        try await withServer(tokens: tokens, serverLimits: limits) { client in
            try await guess(port: client.port)
            async let slowed = post(token: "guess-11", port: client.port)
            await gate.arrived()
            #expect(try await post(token: "may-send", port: client.port)?.status == 200)
            let reader = try await RawConnection.get(
                "/metrics", headers: ["Authorization: Bearer may-read"], port: client.port)
            #expect(reader?.status == 200)
            await gate.open()
            #expect(try await slowed?.status == 401)
        }
    }

    @Test func tokensOfSendersAndReadersCountTogetherForAMinute() async throws {
        let (clock, slowed) = (Clock(), Slowed())
        clock.time = Samples.time(60)
        try await withCountingServer(slowed, now: { clock.time }) { client in
            try await guess(port: client.port)
            #expect(slowed.count.load(ordering: .relaxed) == 0)
            let reader = try await RawConnection.get(
                "/metrics", headers: ["Authorization: Bearer guess-11"], port: client.port)
            #expect(reader?.status == 401)
            #expect(slowed.count.load(ordering: .relaxed) == 1)
            clock.time = Samples.time(120)
            try await guess(port: client.port)
            #expect(slowed.count.load(ordering: .relaxed) == 1)
        }
    }

    @Test func guesserSlowsOnlyItsOwnAddress() async throws {
        let slowed = Slowed()
        try await withCountingServer(slowed) { client in
            try await guess(port: client.port)
            #expect(try await post(token: "guess-11", from: "127.0.0.2", port: client.port)?.status == 401)
            #expect(slowed.count.load(ordering: .relaxed) == 0)
        }
    }

    @Test func repeatedWrongTokenIsNotSlowed() async throws {
        let slowed = Slowed()
        try await withCountingServer(slowed) { client in
            for _ in 0..<20 {
                let answer = try await post(token: "old", port: client.port)
                #expect(answer?.status == 401)
            }
            #expect(slowed.count.load(ordering: .relaxed) == 0)
        }
    }

    /// Returns the answer on a separate connection.
    private func post(
        token: String, from address: String = "127.0.0.1", port: Int?
    ) async throws -> RawConnection.Answer? {
        let (answers, answer) = AsyncStream.makeStream(of: RawConnection.Answer?.self)
        try await RawConnection.open(port: port, from: address) { connection in
            try await connection.post(try Samples.body(), headers: ["Authorization: Bearer \(token)"])
            answer.yield(try await connection.answer())
        }
        return await answers.first { _ in true } ?? nil
    }

    @Test func tokenIsNeverPrinted() {
        #expect(!"\(tokens)".contains("may-"))
    }

    @Test(arguments: ["127.0.0.1", "127.1.2.3", "localhost", "::1"])
    func loopbackNeedsNoToken(host: String) {
        let address = ListenAddress(host: host, port: 4318)
        #expect(ServerTokens().objection(toListeningAt: address, insecure: false) == nil)
    }

    @Test(arguments: ["0.0.0.0", "::", "10.0.0.7", "127.0.0.1.example.com", "127.example.com", "collector.internal"])
    func otherAddressesNeedBothTokens(host: String) {
        let address = ListenAddress(host: host, port: 4318)
        #expect(tokens.objection(toListeningAt: address, insecure: false) == nil)
        #expect(ServerTokens().objection(toListeningAt: address, insecure: true) == nil)
        for tokens in [ServerTokens(), ServerTokens(ingest: "a"), ServerTokens(read: "a")] {
            #expect(tokens.objection(toListeningAt: address, insecure: false) != nil)
        }
    }
}
