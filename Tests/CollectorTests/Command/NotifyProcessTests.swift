import Fixtures
import Foundation
import MartletStorage
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Webhooks of `serve` and of `notify`, as processes.
@Suite(.timeLimit(.minutes(2))) struct NotifyProcessTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Writes a file of webhooks.
    private func file(_ lines: String...) throws -> String {
        let file = folder.url.appendingPathComponent("webhooks")
        try Data(lines.joined(separator: "\n").utf8).write(to: file)
        return file.path
    }

    private func notify(
        _ flags: [String], _ environment: [String: String] = [:]
    ) async throws -> (status: Int32, output: String, errors: String) {
        try await ChildProcess(.martletCollector, ["notify"] + flags, environment: environment).finish()
    }

    // MARK: serve

    @Test func collectorSendsWhatItFinds() async throws {
        let minute = 60_000_000_000 as UInt64
        let store = try await OutageStore(in: folder, start: SystemClock.now() / minute * minute - 40 * minute)
        let webhook = Webhook()
        try await webhook.run { [folder] address in
            let file = folder.path("webhooks")
            try Data("\(address) may-post\n".utf8).write(to: URL(fileURLWithPath: file))
            let collector = try await CollectorProcess(
                store: store.path, environment: ["MARTLET_COLLECTOR_NOTIFY_FILE": file])
            let post = try await webhook.next()
            #expect(post.text.hasPrefix("[test] GET /orders of orders fails since"), "\(post.body)")
            #expect(post.headers[.authorization] == "Bearer may-post")
            let sent = "martlet_collector_notifications_total{receiver=\"127.0.0.1:"
            try await wait(for: "the figure of the message") {
                let url = try #require(URL(string: "http://127.0.0.1:\(collector.port)/metrics"))
                let page = String(decoding: try await URLSession.shared.data(from: url).0, as: UTF8.self)
                #expect(!page.contains("a-secret"))
                return page.split(separator: "\n").contains {
                    $0.hasPrefix(sent) && $0.hasSuffix("result=\"sent\"} 1")
                }
            }
            #expect(await collector.terminate() == 0)
        }
    }

    @Test(arguments: ["hooks.example.com/a-secret", "https://me:a-secret@hooks.example.com/"])
    func faultyWebhookIsRefusedWithoutItsAddress(address: String) async throws {
        let serve = ["serve", "--port", "0", "--store", "sqlite:" + folder.path("collector.sqlite")]
        for (flags, variables, name) in [
            (["--notify", address], [:], "--notify"),
            ([], ["MARTLET_COLLECTOR_NOTIFY": address], "MARTLET_COLLECTOR_NOTIFY"),
            (["--notify-file", try file(address)], [:], "--notify-file"),
        ] as [([String], [String: String], String)] {
            let result = try await ChildProcess(.martletCollector, serve + flags, environment: variables).finish()
            #expect(result.status == 64 && result.errors.contains("\(name) must be a URL"), "\(result)")
            #expect(!result.errors.contains("a-secret"), "\(result.errors)")
        }
    }

    // MARK: notify

    @Test func testMessageReachesEachWebhook() async throws {
        let webhook = Webhook()
        try await webhook.run { address in
            let result = try await notify(["--test"], ["MARTLET_COLLECTOR_NOTIFY": "\(address),\(address)/2"])
            let host = try #require(URL(string: address)?.port)
            #expect(result.output == "127.0.0.1:\(host): accepted (204)\n127.0.0.1:\(host) (2): accepted (204)\n")
            #expect(result.status == 0)
            for _ in 0..<2 {
                let post = try await webhook.next()
                #expect(post.text.hasPrefix("This is a test by martlet-collector."))
            }
        }
    }

    @Test func webhookThatFailsGivesStatus1() async throws {
        let (descriptor, port) = try Loopback.listen()
        close(descriptor)
        let webhook = Webhook(answering: [(404, [:])])
        try await webhook.run { address in
            let file = try file(address, "http://127.0.0.1:\(port)\(Webhook.path)")
            let result = try await notify(["--test", "--notify-file", file])
            #expect(result.status == 1)
            #expect(result.output.contains(": not accepted: it answers 404\n"), "\(result)")
            #expect(result.output.contains(":\(port): not accepted: Connection refused\n"), "\(result)")
            #expect(!result.output.contains("a-secret"))
        }
    }

    @Test(arguments: [([], "give --test"), (["--test"], "give a webhook with --notify or --notify-file")])
    func commandWithoutATestOrAWebhookIsAnError(flags: [String], sentence: String) async throws {
        let result = try await notify(flags)
        #expect(result.status == 64 && result.errors.contains(sentence), "\(result)")
    }
}
