import Fixtures
import Foundation
import Testing

/// A switched-off agent and nonsensical settings, in a running service.
@Suite(.serialized) struct GuestTests {
    let folder: TemporaryFolder
    let shop = ShopServer()

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test(arguments: [true, false])
    func switchedOffAgentHasNoThreadAndNoFile(isEnabled: Bool) async throws {
        let probe = Probe(folder: folder, collector: "http://127.0.0.1:1")
        try await shop.run { server in
            let service = try probe.start(
                server, requests: 300, environment: ["MARTLET_ENABLED": "\(isEnabled)", "MARTLET_INTERVAL": "100ms"])
            await shop.awaitAnswers(150)
            let threads = service.threadNames()
            #expect(threads.contains("martlet") == isEnabled, "\(threads)")
            let result = try await probe.finish(service)
            #expect(result.captured == (isEnabled ? 1800 : 0))
            // Foundation itself keeps a cache in the home directory.
            let own = folder.contents().filter { $0.hasPrefix("buffer") || $0.contains("martlet") }
            #expect(own.isEmpty == !isEnabled)
        }
    }

    @Test func serviceStartsWithOneWarningForEachNonsenseVariable() async throws {
        let probe = Probe(folder: folder, collector: "http://127.0.0.1:1")
        let names = try Repository.table(after: "# The agent's environment", in: "docs/configuration.md")
            .map { $0[0] }.filter { $0 != "" }
        #expect(names.count > 35)
        try await shop.run { server in
            let nonsense = Dictionary(uniqueKeysWithValues: names.map { ($0, "\u{7} nonsense {") })
            let service = try probe.start(server, requests: 5, environment: nonsense)
            let (status, output, errors) = await service.finish()
            #expect(status == 0)
            #expect(output.contains("\"captured\":30"))
            let warnings = errors.split(separator: "\n").filter { $0.contains("; using the default") }
            for name in names { #expect(warnings.count { $0.contains(" \(name)=") } == 1, "\(name)") }
            #expect(!errors.contains("\u{7}"))
        }
    }
}
