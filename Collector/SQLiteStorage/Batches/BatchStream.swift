import GRDB
import MartletTelemetry

/// The batches of one instance and signal, in numbers; ``BatchBlockRows`` and ``BatchPartRows`` tell which batches arrived.
struct BatchStream {
    let id: Int64
    /// The latest sequence of which anything arrived.
    var highestSequence: UInt64
    /// Sequences that arrived whole.
    var arrivedSequences: UInt64
    /// Batches that arrived after some of their intervals had.
    var overlappingBatches: UInt64
    /// Whether the stream has a batch that arrived only in part.
    let hasParts: Bool

    /// Sequences that did not arrive although a later one did. Sequences count from 1.
    var missingSequences: UInt64 {
        highestSequence > arrivedSequences ? highestSequence - arrivedSequences : 0
    }

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
                id: row[0], highestSequence: unsigned(row[1]), arrivedSequences: unsigned(row[2]),
                overlappingBatches: unsigned(row[3]), hasParts: row[4])
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
        return BatchStream(
            id: db.lastInsertedRowID, highestSequence: 0, arrivedSequences: 0, overlappingBatches: 0, hasParts: false)
    }

    func update(at now: Int64, in db: Database) throws {
        let statement = try db.cachedStatement(
            sql: """
                UPDATE batch_stream SET highest = ?, arrived = ?, overlapping = ?, received = max(received, ?)
                WHERE id = ?
                """)
        // The bit patterns keep all 64 bits: two sequences must never become one.
        try statement.execute(arguments: [
            Int64(bitPattern: highestSequence), Int64(bitPattern: arrivedSequences),
            Int64(bitPattern: overlappingBatches), now, id,
        ])
    }

    private static func unsigned(_ number: Int64) -> UInt64 { UInt64(bitPattern: number) }
}
