import Fixtures
import Foundation
import Testing

extension FaultTests {
    /// The agent's thread and its files in a process that is not its own.
    @Suite(.serialized) struct GuestTests {
        /// On overlayfs one remains, that of the lock.
        @Test func anIdleAgentHasNoDescriptorAndFaultsOfItsThreadAreSeen() async throws {
            try await Scene.run { scene in
                let collector = try await scene.collector()
                let lines = try await scene.play("idle", collector: collector.port, 0).split(separator: "\n")
                let blocked = try #require(lines.first.flatMap { UInt64($0, radix: 16) })
                let isBlocked = { (signal: Int32) in blocked & (1 << UInt64(signal - 1)) != 0 }
                #expect([SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP].filter(isBlocked) == [])
                #expect([SIGTERM, SIGINT, SIGHUP, SIGALRM, SIGCHLD].allSatisfy(isBlocked))
                if TestedTransport.environment.isEmpty { #expect(lines.last == "0", "\(scene.seed)") }
            }
        }

        @Test func aServiceThatClosesAllDescriptorsHasItsOwnToItselfAndLosesNothing() async throws {
            try await Scene.run { scene in
                let collector = try await scene.collector()
                #expect(try await scene.play("closing", collector: collector.port, 100) == "0")
                try await scene.expect(["/span": 200])
                #expect(scene.waiting == [], "\(scene.seed)")
            }
        }
    }
}
