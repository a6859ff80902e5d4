import HummingbirdTesting
import MartletServer
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

    @Test func manyDifferentWrongTokensBlockChecksForAMinute() async throws {
        try await withServer(tokens: tokens) { client in
            try await RawConnection.open(port: client.port) { sender in
                let right = "Authorization: Bearer may-send"
                try await sender.post(try Samples.body(), headers: [right])
                #expect(try await sender.answer()?.status == 200)
                for number in 0..<10 {
                    let answer = try await post(token: "guess-\(number)", port: client.port)
                    #expect(answer?.status == 401)
                }
                for token in ["guess-11", "may-send"] {
                    let answer = try await post(token: token, port: client.port)
                    #expect(answer?.status == 429)
                    #expect(answer?.headers["retry-after"] == "60")
                }
                let reader = try await RawConnection.get(
                    "/metrics", headers: ["Authorization: Bearer may-read"], port: client.port)
                #expect(reader?.status == 429)
                // A sender that has already shown its token continues.
                try await sender.post(try Samples.body(), headers: [right])
                #expect(try await sender.answer()?.status == 200)
            }
        }
    }

    @Test func tokensAreCheckedAgainAfterTheMinute() async throws {
        let clock = Clock()
        clock.time = Samples.time(60)
        try await withServer(tokens: tokens, now: { clock.time }) { client in
            for number in 0..<10 { _ = try await post(token: "guess-\(number)", port: client.port) }
            #expect(try await post(token: "may-send", port: client.port)?.status == 429)
            clock.time = Samples.time(120)
            #expect(try await post(token: "may-send", port: client.port)?.status == 200)
        }
    }

    @Test func guesserLocksOutOnlyItsOwnAddress() async throws {
        try await withServer(tokens: tokens) { client in
            for number in 0..<10 { _ = try await post(token: "guess-\(number)", port: client.port) }
            #expect(try await post(token: "may-send", port: client.port)?.status == 429)
            #expect(try await post(token: "may-send", from: "127.0.0.2", port: client.port)?.status == 200)
        }
    }

    @Test func repeatedWrongTokenLocksNobodyOut() async throws {
        try await withServer(tokens: tokens) { client in
            for _ in 0..<20 {
                let answer = try await post(token: "old", port: client.port)
                #expect(answer?.status == 401)
            }
            #expect(try await post(token: "may-send", port: client.port)?.status == 200)
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
