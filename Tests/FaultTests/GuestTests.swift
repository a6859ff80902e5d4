import Fixtures
import Foundation
import Testing

extension FaultTests {
    /// The agent's thread and files as guests in a service's process.
    @Suite(.serialized) struct GuestTests {
        /// On overlayfs one descriptor remains: that of the lock.
        @Test func idleAgentHoldsNoDescriptorAndLittleLockedMemoryAndItsThreadsFaultsAreVisible() async throws {
            try await Scene.run { scene in
                let collector = try await scene.collector()
                let lines = try await scene.play("idle", collector: collector.port, 0).split(separator: "\n")
                // A thread of Dispatch that the agent's thread has made has its name, and Dispatch's own mask.
                let blocked = try #require(lines.first).split(separator: " ").compactMap { UInt64($0, radix: 16) }
                // A profiler that signals every thread (SIGPROF) waits for those that block it.
                let ofServices = [
                    SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCHLD, SIGALRM, SIGWINCH, SIGPIPE,
                ]
                let mask = { (signals: [Int32]) in signals.reduce(UInt64(0)) { $0 | 1 << UInt64($1 - 1) } }
                #expect(blocked.contains(mask(ofServices)), "\(lines)")
                let ofThreads = mask([SIGPROF, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP])
                #expect(blocked.allSatisfy { $0 & ofThreads == 0 }, "\(lines)")
                var limit = rlimit()
                getrlimit(Int32(__RLIMIT_MEMLOCK.rawValue), &limit)
                let locked = try #require(lines.dropFirst().first.flatMap { UInt64($0) }) * 1024
                #expect(locked <= limit.rlim_cur / 4)
                #expect(locked > 0 || limit.rlim_cur < 4 << 20)
                if TestedTransport.environment.isEmpty { #expect(lines.last == "0", "\(scene.seed)") }
            }
        }

        @Test(
            .enabled(
                if: TestedTransport.environment.isEmpty, "URLSession opens its own descriptors"))
        func closedStandardInputStaysClosed() async throws {
            try await Scene.run { scene in
                let collector = try await scene.collector()
                #expect(try await scene.play("closedInput", collector: collector.port, 50) == "0")
                try await scene.expect(["/span": 50])
            }
        }

        @Test(
            .enabled(
                if: TestedTransport.environment.isEmpty, "Dispatch keeps descriptors after an upload over URLSession"))
        func serviceMayCloseAllDescriptorsWithoutALoss() async throws {
            try await Scene.run { scene in
                let collector = try await scene.collector()
                #expect(try await scene.play("closing", collector: collector.port, 100) == "0")
                try await scene.expect(["/span": 200])
                #expect(scene.waiting == [], "\(scene.seed)")
            }
        }
    }
}
