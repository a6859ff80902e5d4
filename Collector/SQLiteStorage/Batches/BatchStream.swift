import GRDB
import MartletStorage
import MartletTelemetry

/// The row of the batches of one instance and signal; ``BatchBlockRows`` and ``BatchPartRows`` tell which batches arrived.
struct BatchStream {
    let id: Int64
    var sequences: BatchSequences
    /// Whether the stream has a batch that arrived only in part.
    let hasParts: Bool

    /// Returns `nil` if the stream is unknown or was forgotten.
    static func find(instance: String, _ signal: Signal, in db: Database) throws -> BatchStream? {
        let statement = try db.cachedStatement(
            sql: """
                SELECT id, highest, arrived, overlapping,
                    EXISTS (SELECT 1 FROM batch_part WHERE stream_id = batch_stream.id)
                FROM batch_stream WHERE instance = ? AND signal = ?
                """)
        return try Row.fetchOne(statement, arguments: [instance, signal.rawValue]).map { row in
            BatchStream(
                id: row[0],
                sequences: BatchSequences(
                    highestSequence: unsigned(row[1]), arrivedSequences: unsigned(row[2]),
                    overlappingBatches: unsigned(row[3])),
                hasParts: row[4])
        }
    }

    /// Returns the stream of a batch's sender. When a stream begins, all streams that received nothing since `oldest` are
    /// deleted.
    static func findOrMake(
        for batch: BatchID, at now: Int64, forgetting oldest: Int64, in db: Database
    ) throws -> BatchStream {
        if let known = try find(instance: batch.instance, batch.signal, in: db) { return known }
        try db.execute(sql: "DELETE FROM batch_stream WHERE received < ?", arguments: [oldest])
        try db.execute(
            sql: """
                INSERT INTO batch_stream (instance, signal, highest, arrived, overlapping, received)
                VALUES (?, ?, 0, 0, 0, ?)
                """, arguments: [batch.instance, batch.signal.rawValue, now])
        return BatchStream(id: db.lastInsertedRowID, sequences: BatchSequences(), hasParts: false)
    }

    func update(at now: Int64, in db: Database) throws {
        let statement = try db.cachedStatement(
            sql: """
                UPDATE batch_stream SET highest = ?, arrived = ?, overlapping = ?, received = max(received, ?)
                WHERE id = ?
                """)
        // The bit patterns keep all 64 bits: two sequences must never become one.
        try statement.execute(arguments: [
            Int64(bitPattern: sequences.highestSequence), Int64(bitPattern: sequences.arrivedSequences),
            Int64(bitPattern: sequences.overlappingBatches), now, id,
        ])
    }

    private static func unsigned(_ number: Int64) -> UInt64 { UInt64(bitPattern: number) }
}
