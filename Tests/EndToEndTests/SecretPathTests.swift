import Fixtures
import Foundation
import Testing

/// Searches the store of a real collector for a secret in the path of a real request.
@Suite struct SecretPathTests {
    @Test(.disabled(if: TestedStore.isClickHouse, "the bytes of a file are searched"), arguments: [false, true])
    func tokenInAPathReachesTheCollectorOnlyIfConfigured(isAsked: Bool) async throws {
        let (folder, shop) = (try TemporaryFolder(), ShopServer())
        let store = folder.path("collector.sqlite")
        let collector = try await CollectorProcess(store: store)
        let probe = Probe(folder: folder, collector: collector.address)
        let token = "AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw"
        try await shop.run { server in
            let service = try probe.start(
                server.appendingPathComponent("bot123456:\(token)/sendMessage"), requests: 5,
                environment: ["MARTLET_SAMPLE_RATE": "1", "MARTLET_CAPTURE_PATHS": "\(isAsked)"])
            #expect(try await probe.finish(service).delivered == 30)
        }
        #expect(await collector.terminate() == 0)
        let bytes = try Data(contentsOf: URL(fileURLWithPath: store))
        #expect(bytes.range(of: Data("sendMessage".utf8)) != nil)
        #expect((bytes.range(of: Data(token.utf8)) != nil) == isAsked)
    }
}
