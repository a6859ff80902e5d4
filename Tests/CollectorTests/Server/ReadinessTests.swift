import Fixtures
import Foundation
import HummingbirdTesting
import Logging
import MartletSQLiteStorage
import MartletServer
import MartletStorage
import Synchronization
import Testing

/// `/readyz`, and the thread that answers it on the port for health and metrics.
@Suite(.timeLimit(.minutes(1))) struct ReadinessTests {
    @Test(.enabled(if: SmallDisk.isPossible)) func aFullDiskIsToldUntilThereIsRoomAgain() async throws {
        let disk = try SmallDisk(bytes: 2 << 20)
        let (stores, store) = AsyncStream.makeStream(of: SQLiteStorage.self)
        try await withServer(
            store: disk.url.appendingPathComponent("c.sqlite").path,
            storage: {
                store.yield($0)
                return $0
            }
        ) { client in
            #expect(try await client.post(try Samples.body()).status == .ok)
            #expect(try await client.get("/readyz").status == .ok)
            try disk.fill()
            while try await client.post(try Samples.body()).status == .ok {}
            let full = try await client.get("/readyz")
            #expect(full.status == .serviceUnavailable)
            #expect(full.text.contains("the disk is full"))
            #expect(try await client.get("/healthz").status == .ok)

            try FileManager.default.removeItem(at: disk.url.appendingPathComponent("filler"))
            try await stores.first { _ in true }?.maintain()
            #expect(try await client.get("/readyz").status == .ok)
            #expect(try await client.post(try Samples.body()).status == .ok)
        }
    }

    @Test func healthIsAnsweredWhileEveryThreadOfTheTasksIsBusy() async throws {
        let folder = try TemporaryFolder()
        let server = CollectorServer(
            storage: try SQLiteStorage(path: folder.path("collector.sqlite")), now: { Samples.time(60) },
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
        let (ports, port) = AsyncStream.makeStream(of: Int.self)
        let service = try server.adminService(at: ListenAddress(host: "127.0.0.1", port: 0)) { port.yield($0) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await service.run() }
            let port = try #require(await ports.first { _ in true })
            for path in ["healthz", "readyz"] {
                let status = await Self.withBusyThreads {
                    Self.curl("http://127.0.0.1:\(port)/\(path)")
                }
                #expect(status == 0)
            }
            group.cancelAll()
        }
    }

    /// Runs `work` on a thread of its own while all threads of the tasks are blocked.
    private static func withBusyThreads<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { done in
            let (entered, free) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let count = ProcessInfo.processInfo.activeProcessorCount
            for _ in 0..<count {
                Task.detached {
                    entered.signal()
                    block(on: free)
                }
            }
            Thread.detachNewThread {
                for _ in 0..<count { entered.wait() }
                let value = work()
                for _ in 0..<count { free.signal() }
                done.resume(returning: value)
            }
        }
    }

    private static func block(on semaphore: DispatchSemaphore) { semaphore.wait() }

    private static func curl(_ url: String) -> Int32 {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["curl", "--fail", "--silent", "--output", "/dev/null", "--max-time", "15", url]
        guard (try? process.run()) != nil else { return -1 }
        process.waitUntilExit()
        return process.terminationStatus
    }
}
