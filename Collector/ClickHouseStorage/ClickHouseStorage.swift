import Foundation
import MartletStorage
import MartletTelemetry
import Synchronization

/// A store that any number of collectors share: tables in ClickHouse.
///
/// Exactly-once counting relies on the identity of rows. A resent batch produces the same rows, and answers count only one copy
/// of a row (docs/internals/clickhouse.md). So no collector needs the state of another.
///
/// Durability: `store` returns after ClickHouse has answered the insert. Servers of 2021 and later have synced the rows to disk
/// by then. Older servers leave that to their operating system.
package final class ClickHouseStorage: Storage {
    package let id: String
    let client: ClickHouseClient
    let limits: ClickHouseLimits
    let writer: Writer
    let queue: InsertQueue
    let earlyHours: HourBuilder
    let wholeHours: HourBuilder
    /// The collector's clock.
    let now: @Sendable () -> UnixNanoseconds
    /// `nil` until the first maintenance.
    let retention = Mutex<StoreClock?>(nil)
    /// The hour up to which the latest complete pass counted all cumulative points; 0 before the first pass.
    let countedHour = Atomic<UInt32>(0)
    /// The time up to which this collector has remembered the calls of spans; 0 before the first pass.
    let rememberedTime = Atomic<UInt64>(0)
    /// The hours before which there are no points, and when this collector first saw these.
    let seenRolled = Mutex<(hours: RolledHours, since: ContinuousClock.Instant)?>(nil)

    /// Opens the store. Throws ``StorageFailure`` if its tables are missing, older or newer. Throws an error if no server answers.
    ///
    /// - Parameter onStored: called after each insert.
    package init(
        at location: ClickHouseLocation, _ credentials: ClickHouseCredentials,
        limits: ClickHouseLimits = ClickHouseLimits(), now: @escaping @Sendable () -> UnixNanoseconds,
        onStored: @escaping OnStored = { _, _ in }
    ) async throws {
        client = try await ClickHouseClient(location, credentials, timeout: limits.answerTime)
        id = try await Migration.check(client)
        self.limits = limits
        self.now = now
        writer = Writer(client, onStored: onStored)
        queue = InsertQueue(writer, limits: limits)
        earlyHours = HourBuilder(.early, client, limits)
        wholeHours = HourBuilder(.whole, client, limits)
    }

    /// Stores the points. Points of cumulative metrics count once ``maintain()`` has computed their differences.
    package func store(_ metrics: [InstanceMetrics], of batch: BatchID?) async throws -> StoreOutcome {
        let outcome = try await queue.store(PendingBatch(id: batch, contents: .metrics(metrics), arrival: now()))
        for one in metrics { hear(from: one.resource, until: one.latestTime) }
        return outcome
    }

    package func store(_ details: [DetailsBatch], of batch: BatchID?) async throws -> StoreOutcome {
        let outcome = try await queue.store(PendingBatch(id: batch, contents: .details(details), arrival: now()))
        for one in details { hear(from: one.resource, until: one.latestEnd) }
        return outcome
    }

    /// Passes a sender's time to the retention clock.
    private func hear(from resource: TelemetryResource, until end: UnixNanoseconds) {
        let clock = retention.withLock(\.self)
        clock?.hear(from: Int64(bitPattern: RowIdentity.sender(resource)), until: end)
    }

    package var fault: String? { queue.fault.map { "ClickHouse accepts no batches: \($0)" } }

    package var longestAge: UnixNanoseconds? {
        retention.withLock { $0?.jumped ?? 0 } == 0 ? max(limits.retention.hours, limits.detailAge) : nil
    }

    package func size() async throws -> UInt64 {
        try await client.number(
            "sum(bytes_on_disk)", "FROM \(client.layout.parts) WHERE active AND database = '\(client.layout.database)'"
        ) ?? 0
    }

    package func state() async throws -> StorageState {
        var state = StorageState()
        state.bytesInUse = try await size()
        state.clockJump = Double(retention.withLock { $0?.jumped } ?? 0) / 1e9
        return state
    }

    /// `nil`, because the disk belongs to another machine.
    package func freeBytes() async -> UInt64? { nil }
}
