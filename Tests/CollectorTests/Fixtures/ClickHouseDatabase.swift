import Fixtures
import MartletClickHouseStorage
import MartletStorage
import MartletTelemetry

/// An empty store on a ClickHouse. Several collectors can open it.
struct ClickHouseDatabase {
    let location: ClickHouseLocation
    private let credentials = ClickHouseCredentials([:])

    init(_ server: TestedClickHouse) async throws {
        location = try ClickHouseLocation(server.newDatabase())
        try await Migration.run(at: location, credentials, cluster: server.cluster)
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
