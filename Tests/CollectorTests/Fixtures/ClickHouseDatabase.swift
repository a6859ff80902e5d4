import Fixtures
import MartletStorage
import MartletTelemetry
import Synchronization
import Testing

@testable import MartletClickHouseStorage

/// An empty store on a ClickHouse. Several collectors can open it.
struct ClickHouseDatabase {
    let location: ClickHouseLocation
    private let credentials = ClickHouseCredentials([:])

    init(_ server: TestedClickHouse) async throws {
        if let used = UsedDatabases.take() {
            location = used
            try await empty(server)
        } else {
            location = try ClickHouseLocation(server.newDatabase())
            try await Migration.run(at: location, credentials, cluster: server.cluster)
        }
        UsedDatabases.add(location)
    }

    /// Removes all rows but the store's id, and notes the tables' version again.
    private func empty(_ server: TestedClickHouse) async throws {
        for url in server.oneOfEachShard {
            let location = try ClickHouseLocation("\(url)/\(location.database)")
            let client = try await ClickHouseClient(location, credentials, cluster: server.cluster, timeout: 60)
            for table in Schema.all where table.name != Schema.store.name {
                try await client.run("TRUNCATE TABLE \(client.layout.nameOfRows(table))")
            }
        }
        let client = try await ClickHouseClient(location, credentials, timeout: 60)
        try await client.run("INSERT INTO migration (version) VALUES (\(Schema.version))")
    }

    /// Opens the store as a collector that does not wait for other batches and points, and believes the test's clock when it jumps.
    ///
    /// - Parameters:
    ///   - hourSettling: see ``ClickHouseLimits``.
    ///   - maxObservedCalls: see ``ClickHouseLimits``.
    func open(
        hourSettling: Double = 0, maxObservedCalls: Int = 10_000,
        now: @escaping @Sendable () -> UnixNanoseconds = SystemClock.now
    ) async throws -> ClickHouseStorage {
        var limits = ClickHouseLimits()
        limits.insertPause = 0
        limits.cumulativeSettling = 0
        limits.hourSettling = hourSettling
        limits.maxHourPoints = 40
        limits.maxObservedCalls = maxObservedCalls
        limits.clockPatience = 40 * 24 * 3600 * 1_000_000_000
        return try await ClickHouseStorage(at: location, credentials, limits: limits, now: now)
    }
}

/// The databases of this process's tests. A test may take one whose test has ended: emptying it is many times faster than making
/// its tables on a cluster.
private enum UsedDatabases {
    private static let users = Mutex<[(location: ClickHouseLocation, test: Test.ID?)]>([])

    /// Returns a database that the current test has not used; `nil` if there is none.
    static func take() -> ClickHouseLocation? {
        users.withLock { users in
            let index = users.firstIndex { $0.test != Test.current?.id }
            return index.map { users.remove(at: $0).location }
        }
    }

    static func add(_ location: ClickHouseLocation) {
        users.withLock { $0.append((location, Test.current?.id)) }
    }
}
