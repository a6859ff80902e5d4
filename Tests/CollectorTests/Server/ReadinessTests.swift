import Fixtures
import Foundation
import HummingbirdTesting
import Logging
import MartletOTLP
import MartletSQLiteStorage
import MartletServer
import MartletStorage
import MartletTelemetry
import NIOPosix
import Synchronization
import Testing

/// `/readyz`, and the thread that answers it on the port for health and metrics.
@Suite(.timeLimit(.minutes(1))) struct ReadinessTests {
    @Test(.enabled(if: SmallDisk.isPossible)) func fullDiskIsReportedUntilThereIsRoomAgain() async throws {
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

            // The log grows by the beginning of a batch that does not fit. From then on it has room for small writes.
            let filler = disk.url.appendingPathComponent("filler").path
            let bytes = try FileManager.default.attributesOfItem(atPath: filler)[.size] as? Int
            truncate(filler, try #require(bytes) - 200_000)
            #expect(try await client.post(try Self.largeBody()).status == .serviceUnavailable)
            let storage = try #require(await stores.first { _ in true })
            try? await storage.maintain()
            #expect(try await client.get("/readyz").status == .serviceUnavailable)
            try disk.makeRoom()
            try await storage.maintain()
            #expect(try await client.get("/readyz").status == .ok)
            #expect(try await client.post(try Samples.body()).status == .ok)
        }
    }

    private static func largeBody() throws -> [UInt8] {
        let series = (0..<5000).map { (Samples.dimensions(endpoint: "/\($0)"), Samples.statistics([1])) }
        return try MetricsBatch(
            resource: Samples.resource(), start: Samples.time(0), end: Samples.time(10),
            series: Dictionary(uniqueKeysWithValues: series), ledger: Ledger(captured: 5000, waiting: 5000)
        ).otlp()
    }

    @Test func healthIsAnsweredWhileEveryOtherThreadIsBusy() async throws {
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

    /// Runs `work` on a separate thread while all threads of the tasks and of the main port's connections are blocked.
    private static func withBusyThreads<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { done in
            let (entered, free) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let (cores, loops) = (ProcessInfo.processInfo.activeProcessorCount, MultiThreadedEventLoopGroup.singleton)
            let count = cores + loops.makeIterator().reduce(0) { count, _ in count + 1 }
            let wait = { @Sendable in
                entered.signal()
                block(on: free)
            }
            for _ in 0..<cores { Task.detached { wait() } }
            for loop in loops.makeIterator() { loop.execute(wait) }
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
