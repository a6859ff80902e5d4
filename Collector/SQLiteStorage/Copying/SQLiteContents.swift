import GRDB
import MartletPoints
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
            case .calls: try ObservedCallRows.part(after: number, in: db)
            }
        }
    }

    /// Returns a number that changes whenever a collector uses the file.
    package func fingerprint() async throws -> Int64 {
        try await queue.read { db in
            let figures = try Int64.fetchAll(
                db,
                sql: """
                    SELECT ifnull(max(id), 0) FROM chunk UNION ALL SELECT count(*) FROM chunk
                    UNION ALL SELECT ifnull(max(last_seen), 0) FROM resource
                    UNION ALL SELECT ifnull(max(received), 0) FROM batch_stream
                    UNION ALL SELECT ifnull(max(id), 0) FROM detail UNION ALL SELECT count(*) FROM detail
                    UNION ALL SELECT ifnull(sum(time / 1000000000), 0) FROM expired
                    """)
            let hash = StreamID(hashing: figures.map { Array(String($0).utf8) }).bytes
            return hash.prefix(8).reduce(0) { $0 << 8 | Int64($1) }
        }
    }

    /// Returns the starts of the spans of time in which intervals with points end, in nanoseconds since 1970.
    ///
    /// - Parameter length: the length of a span of time, in nanoseconds.
    package func times(by length: Int64) async throws -> [Int64] {
        try await queue.read { db in
            try Int64.fetchAll(
                db,
                sql: "SELECT DISTINCT (max(end_time, 1) - 1) / ?1 * ?1 FROM chunk ORDER BY 1", arguments: [length])
        }
    }

    private static func times(hoursUntil hours: Int64, in db: Database) throws -> ExpiredTimes {
        let expired = try ExpiredRows.times(in: db)
        return ExpiredTimes(fine: max(expired.fine, hours), minutes: max(expired.minutes, hours))
    }
}
