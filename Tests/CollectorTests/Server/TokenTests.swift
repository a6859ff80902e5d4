import HummingbirdTesting
import MartletServer
import Testing

@Suite struct TokenTests {
    private let tokens = ServerTokens(ingest: "may-send", read: "may-read")

    @Test(arguments: [nil, "", "may-read", "may-sen", "may-send2", "MAY-SEND"])
    func sendingTakesTheIngestToken(token: String?) async throws {
        try await withServer(tokens: tokens) { client in
            let refused = try await client.post(try Samples.body(), token: token)
            #expect(refused.status.code == 401)
            #expect(try !refused.reason.isEmpty)
            #expect(refused.headers[.wwwAuthenticate] == nil)
            #expect(try await client.post(try Samples.body(), token: "may-send").status == .ok)
        }
    }

    @Test(arguments: [nil, "may-send", "may-rea"])
    func readingTakesTheReadToken(token: String?) async throws {
        try await withServer(tokens: tokens) { client in
            for path in ["/api/v1/report", "/api/v1/agents"] {
                let refused = try await client.get(path, token: token)
                #expect(refused.status.code == 401)
                #expect(refused.headers[.wwwAuthenticate] == nil)
                #expect(try await client.get(path, token: "may-read").status == .ok)
            }
        }
    }

    @Test func aTokenIsNeverPrinted() {
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
