import GRDB
import MartletStorage
import MartletTelemetry

/// The rows of the parts that arrived of incomplete batches.
enum BatchPartRows {
    static func find(of batch: BatchID, stream: Int64, in db: Database) throws -> BatchParts {
        let statement = try db.cachedStatement(
            sql: "SELECT part FROM batch_part WHERE stream_id = ? AND first = ? AND sequence = ?")
        return BatchParts(try String.fetchSet(statement, arguments: [stream] + range(of: batch)))
    }

    /// Replaces the rows of a batch; a whole batch needs none.
    ///
    /// - Parameter oldest: the stream's parts that arrived before this time are deleted.
    static func replace(
        with parts: BatchParts, of batch: BatchID, stream: Int64, at now: Int64, forgetting oldest: Int64,
        in db: Database
    ) throws {
        try db.cachedStatement(
            sql: "DELETE FROM batch_part WHERE stream_id = ? AND (first = ? AND sequence = ? OR received < ?)"
        ).execute(arguments: [stream] + range(of: batch) + [oldest])
        guard !parts.isWhole else { return }
        let statement = try db.cachedStatement(sql: "INSERT INTO batch_part VALUES (?, ?, ?, ?, ?)")
        for part in parts.parts { try statement.execute(arguments: [stream] + range(of: batch) + [part, now]) }
    }

    private static func range(of batch: BatchID) -> StatementArguments {
        [Int64(bitPattern: batch.first), Int64(bitPattern: batch.sequence)]
    }
}
