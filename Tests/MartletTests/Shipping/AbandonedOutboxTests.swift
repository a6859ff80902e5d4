import Fixtures
import Foundation
import HTTPTypes
import InMemoryLogging
import Logging
import MartletTelemetry
import Testing

@testable import Martlet

extension AgentTests {
    /// The work that many directories of dead processes make.
    @Suite struct AbandonedOutboxTests {
        private static let count = 300

        @Test func directoriesUnderAnotherTokenAreOpenedOnceAndAFewInARound() async throws {
            let directory = try TemporaryFolder()
            let service = directory.url.appendingPathComponent("shop")
            for number in 1...Self.count { try Self.leaveBatch(of: "dead-\(number)", in: service, token: "old") }
            let locks = try OpenedLocks(in: service)
            try await withAgent({
                $0.bufferDirectory = directory.url
                $0.serviceName = "shop"
            }) { agent, _, _ in
                var opened = 0
                for _ in 0...Self.count / MartletLimits.visits {
                    await agent.flush()
                    let number = locks.count()
                    // The round at the agent's start may come before the first flush.
                    #expect(number <= 2 * MartletLimits.visits)
                    opened += number
                }
                #expect(opened == Self.count)
                #expect(agent.status.waitingElsewhere == UInt64(3 * Self.count))
                for _ in 1...3 { await agent.flush() }
                #expect(locks.count() == 0)
                // Without this file a batch may go to any collector.
                try FileManager.default.removeItem(at: service.appendingPathComponent("dead-7/resource"))
                await agent.flush()
                #expect(agent.status.waitingElsewhere == UInt64(3 * (Self.count - 1)))
            }
        }

        /// A collector asks to wait for a batch of a dead process, and no other batch waits.
        @Test func collectorStaysUnreachableWhileADirectoryIsSkipped() async throws {
            let (directory, log) = (try TemporaryFolder(), InMemoryLogHandler())
            try await withAgent({
                $0.bufferDirectory = directory.url
                $0.serviceName = "shop"
                $0.logger = Logger(label: "test", factory: { _ in log })
            }) { agent, collector, _ in
                // After this flush the agent waits for the next one.
                await agent.flush()
                try Self.leaveBatch(of: "dead", in: directory.url.appendingPathComponent("shop"), token: nil)
                collector.answer(503, headers: [.retryAfter: "300"])
                for _ in 1...3 { await agent.flush() }
                #expect(collector.received.map(\.status) == [503])
                let messages = log.entries.map { "\($0.message)" }
                #expect(messages.filter { $0.contains("cannot be reached") }.count == 1)
                #expect(!messages.contains { $0.contains("accepts batches again") })
            }
        }

        /// Leaves a batch without waiting for the disk.
        ///
        /// - Parameter token: the token that it was recorded under; `nil` for a batch for any collector.
        private static func leaveBatch(of instance: String, in service: URL, token: String?) throws {
            let directory = service.appendingPathComponent(instance)
            try FileManager.default.createDirectory(
                at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            try Data().write(to: service.appendingPathComponent("\(instance).lock"))
            if let token {
                var configuration = MartletConfiguration()
                configuration.token = token
                let owner = OutboxOwner(TelemetryResource(service: "shop", instance: instance), configuration)
                try JSONEncoder().encode(owner).write(to: directory.appendingPathComponent(Outbox.ownerFileName))
            }
            let file = BatchFile(sequence: 1, signal: .metrics, requests: 3, isCompressed: false, body: [])
            try Data().write(to: directory.appendingPathComponent(file.name))
        }
    }
}

/// Counts how often the locks of dead processes were opened, as the kernel reports it (inotify(7)).
private final class OpenedLocks: Sendable {
    private let descriptor: Int32

    init(in directory: URL) throws {
        descriptor = inotify_init1(Int32(IN_NONBLOCK))
        try #require(inotify_add_watch(descriptor, directory.path, UInt32(IN_OPEN)) >= 0)
    }

    deinit { close(descriptor) }

    /// Returns how often any of them was opened since the last call.
    func count() -> Int {
        var (count, bytes) = (0, [UInt8](repeating: 0, count: 64 << 10))
        while case let length = read(descriptor, &bytes, bytes.count), length > 0 {
            count += Self.names(in: bytes[..<length]).filter { $0.hasPrefix("dead") && $0.hasSuffix(".lock") }.count
        }
        return count
    }

    /// Returns the name in each event: after 16 bytes, of which the last four are the length of the name.
    private static func names(in bytes: ArraySlice<UInt8>) -> [String] {
        var (names, rest) = ([String](), bytes)
        while rest.count >= 16 {
            let length = rest.dropFirst(12).prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
            let name = rest.dropFirst(16).prefix(length).prefix { $0 != 0 }
            names.append(String(decoding: name, as: UTF8.self))
            rest = rest.dropFirst(16 + length)
        }
        return names
    }
}
