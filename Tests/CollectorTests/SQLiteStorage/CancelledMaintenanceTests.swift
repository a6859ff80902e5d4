import Fixtures
import Foundation
import MartletStorage
import Testing

@testable import MartletSQLiteStorage

/// Maintenance that is cancelled during its work, as when the collector stops.
@Suite struct CancelledMaintenanceTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func open(_ name: String) throws -> SQLiteStorage {
        try SQLiteStorage(path: folder.path(name), now: { Samples.time(100 * 3600) })
    }

    private func makeBacklog() async throws {
        let storage = try open("backlog.sqlite")
        for hour in 1...15 as ClosedRange<UInt64> {
            let points = (0..<60 as Range<UInt64>).map { minute in
                Samples.point(Samples.dimensions(), [0.1], end: hour * 3600 + minute * 60)
            }
            _ = try await storage.store([InstanceMetrics(resource: Samples.resource(), points: points)], of: nil)
        }
        try storage.close()
    }

    @Test func storeClosesWithoutAnError() async throws {
        try await makeBacklog()
        for round in 0..<12 {
            let name = "\(round).sqlite"
            try FileManager.default.copyItem(atPath: folder.path("backlog.sqlite"), toPath: folder.path(name))
            let storage = try open(name)
            let maintenance = Task { try await storage.maintain() }
            while try await storage.rows("version_chunk WHERE tier = 1") <= round * 50 { await Task.yield() }
            maintenance.cancel()
            _ = await maintenance.result
            #expect(throws: Never.self) { try storage.close() }
        }
    }
}
