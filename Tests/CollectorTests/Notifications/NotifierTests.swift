import Fixtures
import Foundation
import InMemoryLogging
import Logging
import MartletFindings
import MartletPrometheus
import MartletSQLiteStorage
import MartletStorage
import Synchronization
import Testing

@testable import MartletNotifications

/// Messages to a real server, over a real store.
@Suite(.timeLimit(.minutes(2))) struct NotifierTests {
    private let folder: TemporaryFolder
    private let log = InMemoryLogHandler()
    private let counts = Counts()
    private let findings: SampleFindings
    /// Another finding. When its message arrives, nothing before it is still to come.
    private let marker: SampleFindings

    init() throws {
        folder = try TemporaryFolder()
        findings = try SampleFindings()
        marker = try SampleFindings("marker")
        #expect(findings.open.finding.isOpen && findings.later.finding.isOpen && !findings.ended.finding.isOpen)
        #expect(findings.open.name == findings.ended.name && findings.open.name != marker.open.name)
    }

    /// The latest counts of a notifier with one receiver.
    private final class Counts: Sendable {
        let latest = Mutex(NotificationCounts())
    }

    /// Runs a notifier over the store while `body` runs.
    private func withNotifier(
        _ address: String, token: String? = nil, _ change: (inout NotifierLimits) -> Void = { _ in },
        _ body: (Notifier) async throws -> Void
    ) async throws {
        var limits = NotifierLimits()
        (limits.firstPause, limits.longestPause) = (.milliseconds(1), .milliseconds(20))
        change(&limits)
        let storage = try SQLiteStorage(path: folder.path("collector.sqlite"))
        let logger = Logger(label: "test") { [log] _ in log }
        let notifier = Notifier(
            [try Receiver(address, token: token)], storage: storage, limits: limits, logger: logger
        ) { [counts] new, _ in counts.latest.withLock { $0 = new } }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await notifier.run() }
            try await body(notifier)
            // The last acknowledgement is in the store.
            try await wait(for: "an empty queue") { counts.latest.withLock { $0.waiting == 0 } }
            group.cancelAll()
        }
        try storage.close()
    }

    private func logged(_ text: String) -> Bool {
        log.entries.contains { "\($0.message) \($0.metadata)".contains(text) }
    }

    // MARK: What is sent

    @Test func openingAndEndAreSentOnceEach() async throws {
        let webhook = Webhook()
        try await webhook.run { address in
            try await withNotifier(address) { notifier in
                for present in [findings.open, findings.open, findings.later, findings.ended, findings.ended] {
                    await notifier.take([present], now: findings.now)
                    guard present != findings.later else { continue }
                    try await wait(for: "an empty queue") { counts.latest.withLock { $0.waiting == 0 } }
                }
                await notifier.take([findings.ended, marker.open], now: findings.now)
                let post = try await webhook.next()
                #expect(try post.body == FindingMessage(findings.open).json)
                let second = try await webhook.next()
                #expect(second.text.hasPrefix("[production] Ended: POST /orders of orders failed from"))
                let third = try await webhook.next()
                #expect(third.text.contains("marker"))
                try await wait(for: "the count of three messages") { counts.latest.withLock { $0.sent == 3 } }
            }
        }
    }

    @Test func findingThatComesBackIsSentAgain() async throws {
        let webhook = Webhook()
        try await webhook.run { address in
            try await withNotifier(address) { notifier in
                for present in [findings.open, findings.ended, findings.later] {
                    await notifier.take([present], now: findings.now)
                    let post = try await webhook.next()
                    #expect(try post.body == FindingMessage(present).json)
                }
            }
        }
    }

    @Test func causeThatIsFoundLaterIsSent() async throws {
        var cause = findings.later
        cause.finding.kind = .ended
        cause.finding.title = "orders ended without shutdown"
        let webhook = Webhook()
        try await webhook.run { [cause] address in
            try await withNotifier(address) { notifier in
                var texts: [String] = []
                for present in [findings.open, cause, marker.open] {
                    for _ in 0..<2 { await notifier.take([present], now: findings.now) }
                    texts.append(try await webhook.next().text)
                    try await wait(for: "an empty queue") { counts.latest.withLock { $0.waiting == 0 } }
                }
                #expect(texts[0].contains("POST /orders of orders fails"))
                #expect(texts[1] == "[production] Now: orders ended without shutdown")
                #expect(texts[2].contains("marker"))
            }
        }
    }

    /// Without this message a receiver would wait for the end.
    @Test(arguments: [
        (WatchedFinding.Removal.part(of: "orders ended"), "Part of another finding: ", ". The other one: orders ended"),
        (.withdrawn, "Withdrawn: ", ""),
    ])
    func receiverThatKnowsARemovedFindingHearsOfIt(
        removal: WatchedFinding.Removal, prefix: String, suffix: String
    ) async throws {
        var removed = findings.open
        (removed.finding.isOpen, removed.removal) = (false, removal)
        let webhook = Webhook()
        try await webhook.run { [removed] address in
            try await withNotifier(address) { notifier in
                // No message about this one was sent.
                await notifier.take([removed], now: findings.now)
                await notifier.take([findings.open], now: findings.now)
                let opening = try await webhook.next()
                #expect(try opening.body == FindingMessage(findings.open).json)
                try await wait(for: "an empty queue") { counts.latest.withLock { $0.waiting == 0 } }
                await notifier.take([removed], now: findings.now)
                let text = try await webhook.next().text
                #expect(text == "[production] " + prefix + removed.finding.title + suffix)
            }
        }
    }

    @Test func tokenAndTypeAreHeaderFields() async throws {
        let webhook = Webhook()
        try await webhook.run { address in
            try await withNotifier(address, token: "may-post") { notifier in
                await notifier.take([findings.open], now: findings.now)
                let headers = try await webhook.next().headers
                #expect(headers[.contentType] == "application/json" && headers[.authorization] == "Bearer may-post")
            }
        }
    }

    /// A document shows what is sent, byte for byte.
    @Test func documentShowsWhatIsSent() async throws {
        let example = try #require(
            try Repository.text("docs/alerts.md").split(separator: "```json\n").last?.split(separator: "```").first)
        struct Example: Decodable { let finding: Finding }
        let finding = try JSONDecoder().decode(Example.self, from: Data(example.utf8)).finding
        let webhook = Webhook()
        try await webhook.run { address in
            try await withNotifier(address) { notifier in
                await notifier.take([WatchedFinding(environment: "production", finding)], now: findings.now)
                let post = try await webhook.next()
                #expect(post.body == example)
            }
        }
    }

    /// A chat service would notify everyone, or show a link.
    @Test func textFromAPathNotifiesNobody() throws {
        var watched = findings.open
        watched.finding.title = "GET /<!channel>/@here of orders fails"
        watched.environment = nil
        let text = Webhook.Post(body: try FindingMessage(watched).json, headers: [:], status: 200).text
        #expect(text == "GET /‹!channel›/@\u{200b}here of orders fails")
    }

    @Test func endOfMoreThanAnHourAgoIsHistory() async throws {
        let webhook = Webhook()
        try await webhook.run { address in
            try await withNotifier(address) { notifier in
                await notifier.take([findings.ended, marker.open], now: findings.now + 2 * 3_600_000_000_000)
                let post = try await webhook.next()
                #expect(post.text.contains("marker"))
            }
            try await withNotifier(address) { notifier in
                await notifier.take([findings.ended], now: findings.now)
                let post = try await webhook.next()
                #expect(post.text.contains("Ended: POST /orders"))
            }
        }
    }

    // MARK: Receivers that fail

    @Test func restartSendsNothingTwice() async throws {
        let webhook = Webhook()
        try await webhook.run { address in
            for present in [findings.open, findings.ended] {
                try await withNotifier(address) { notifier in
                    await notifier.take([present], now: findings.now)
                    let post = try await webhook.next()
                    #expect(try post.body == FindingMessage(present).json)
                }
            }
            try await withNotifier(address) { notifier in
                await notifier.take([findings.ended, marker.open], now: findings.now)
                let post = try await webhook.next()
                #expect(post.text.contains("marker"))
            }
        }
    }

    @Test func receiverThatWasDownGetsOnlyTheEndOfWhatIsOver() async throws {
        let (descriptor, port) = try Loopback.listen()
        close(descriptor)
        try await withNotifier("http://127.0.0.1:\(port)" + Webhook.path) { notifier in
            await notifier.take([findings.open, marker.open], now: findings.now)
            try await wait(for: "the fault") { logged("the receiver takes no notifications; they wait") }
            #expect(logged("Connection refused") && !logged("a-secret"))
            await notifier.take([findings.ended, marker.later], now: findings.now)
            let webhook = Webhook()
            try await webhook.run(port: port) { _ in
                var texts: Set<String> = []
                while !texts.contains(where: { $0.contains("Ended: POST /orders") })
                    || !texts.contains(where: { $0.contains("marker") })
                {
                    texts.insert(try await webhook.next().text)
                }
                // An attempt with the opening may have been in progress when the finding ended.
                #expect(texts.count <= 3)
                try await wait(for: "an empty queue") { counts.latest.withLock { $0.waiting == 0 } }
            }
            #expect(logged("the receiver takes notifications again"))
            #expect(counts.latest.withLock { $0.failed == 0 })
        }
    }

    @Test func busyReceiverIsTriedAgain() async throws {
        let webhook = Webhook(answering: [(503, [.retryAfter: "1"]), (429, [:]), (408, [:])])
        try await webhook.run { address in
            try await withNotifier(address) { notifier in
                await notifier.take([findings.open], now: findings.now)
                for status in [503, 429, 408, 204] {
                    let post = try await webhook.next()
                    #expect(post.status == status)
                }
            }
        }
        #expect(counts.latest.withLock { $0.sent == 1 && $0.failed == 0 })
    }

    @Test(arguments: [400, 404, 302])
    func refusedMessageIsGivenUpAndOthersGoOn(status: Int) async throws {
        let webhook = Webhook(answering: [(status, [.location: "/elsewhere"])])
        try await webhook.run { address in
            try await withNotifier(address, { $0.refusals = 1 }) { notifier in
                await notifier.take([findings.open, marker.open], now: findings.now)
                let post = try await webhook.next()
                #expect(post.status == status)
                let second = try await webhook.next()
                #expect(second.text.contains("marker"))
            }
        }
        #expect(counts.latest.withLock { $0.sent == 1 && $0.failed == 1 })
        #expect(logged("notifications are given up") && logged("\(status)") && !logged("a-secret"))
    }

    /// The tick must not wait for a receiver.
    @Test func findingsAreTakenWhileAReceiverIsSlow() async throws {
        let gate = Gate()
        let webhook = Webhook(gate: gate)
        try await webhook.run { address in
            try await withNotifier(address) { notifier in
                await notifier.take([findings.open], now: findings.now)
                await gate.arrived()
                await notifier.take([findings.ended], now: findings.now)
                await gate.open()
                let post = try await webhook.next()
                #expect(try post.body == FindingMessage(findings.open).json)
                let second = try await webhook.next()
                #expect(try second.body == FindingMessage(findings.ended).json)
            }
        }
    }
}
