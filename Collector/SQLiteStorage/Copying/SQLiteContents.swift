import GRDB
import MartletStorage
import MartletTelemetry

/// The contents of a file that is copied to another store. It claims the file as a collector does, so nothing changes meanwhile,
/// and leaves it as it is. Safe to use from any task.
package final class SQLiteContents: Sendable {
    /// The store's identity.
    package let id: String
    private let queue: DatabaseQueue
    private let lock: StoreLock

    /// Throws ``StorageFailure`` if the file is no store, or a collector uses it.
    package init(of path: String) throws {
        try StoreFile.inspect(path, forReading: true)
        let path = StoreFile.resolve(path)
        lock = try StoreLock(of: path)
        var configuration = Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(5)
        configuration.prepareDatabase(Pragmas.configure)
        (queue, id) = try StoreFile.describingErrors(of: path) {
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            return (queue, try queue.read(StoreID.read))
        }
    }

    /// Returns the next rows of a table; `nil` at its end.
    ///
    /// - Parameters:
    ///   - number: the number of the last row that was read; 0 at first.
    ///   - hours: the time up to which figures are wanted by the hour, in nanoseconds since 1970. Later ones are as fine as the
    ///     file has them.
    package func part(of table: CopiedTable, after number: Int64, hoursUntil hours: Int64) async throws -> CopiedPart? {
        try await queue.read { db in
            switch table {
            case .batches: try CopiedBatches.part(after: number, in: db)
            case .senders: try CopiedSender.part(after: number, try Self.times(hoursUntil: hours, in: db), in: db)
            case .points: try CopiedPoints.part(after: number, try Self.times(hoursUntil: hours, in: db), in: db)
            case .details: try CopiedDetail.part(after: number, in: db)
            }
        }
    }

    /// Returns the first and the last end of an interval with points, in nanoseconds since 1970; `nil` without points.
    package func times() async throws -> ClosedRange<Int64>? {
        try await queue.read { db in
            guard let row = try Row.fetchOne(db, sql: "SELECT min(end_time), max(end_time) FROM chunk"),
                let first: Int64 = row[0], let last: Int64 = row[1]
            else { return nil }
            return first...max(first, last)
        }
    }

    private static func times(hoursUntil hours: Int64, in db: Database) throws -> ExpiredTimes {
        let expired = try ExpiredRows.times(in: db)
        return ExpiredTimes(fine: max(expired.fine, hours), minutes: max(expired.minutes, hours))
    }
}
