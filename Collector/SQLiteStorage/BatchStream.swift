import GRDB
import MartletTelemetry

/// What arrived of one instance and signal, in numbers; which batches it were is in ``BatchBlockRows`` and
/// ``BatchPartRows``.
struct BatchStream {
    let id: Int64
    /// The latest sequence of which anything arrived.
    var highest: UInt64
    /// Sequences that arrived whole.
    var arrived: UInt64
    /// Batches that arrived although some of what they stand for had arrived before.
    var overlapping: UInt64
    /// Whether there is any batch of which parts arrived and others did not.
    let hasParts: Bool

    /// Sequences that did not arrive although a later one did. They count from 1.
    var missing: UInt64 { highest > arrived ? highest - arrived : 0 }

    /// `nil` for one that is not known, or not any more.
    static func find(instance: String, _ signal: Signal, in db: Database) throws -> BatchStream? {
        let statement = try db.cachedStatement(
            sql: """
                SELECT id, highest, arrived, overlapping,
                    EXISTS (SELECT 1 FROM batch_part WHERE stream_id = batch_stream.id)
                FROM batch_stream WHERE instance = ? AND signal = ?
                """)
        return try Row.fetchOne(statement, arguments: [instance, signal.rawValue]).map { row in
            BatchStream(
                id: row[0], highest: unsigned(row[1]), arrived: unsigned(row[2]), overlapping: unsigned(row[3]),
                hasParts: row[4])
        }
    }

    /// Of a batch's sender. Where one begins, those of which nothing arrived since `oldest` are forgotten.
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
        return BatchStream(id: db.lastInsertedRowID, highest: 0, arrived: 0, overlapping: 0, hasParts: false)
    }

    func update(at now: Int64, in db: Database) throws {
        let statement = try db.cachedStatement(
            sql: """
                UPDATE batch_stream SET highest = ?, arrived = ?, overlapping = ?, received = max(received, ?)
                WHERE id = ?
                """)
        // All 64 bits count: two sequences must never become one.
        try statement.execute(arguments: [
            Int64(bitPattern: highest), Int64(bitPattern: arrived), Int64(bitPattern: overlapping), now, id,
        ])
    }

    private static func unsigned(_ number: Int64) -> UInt64 { UInt64(bitPattern: number) }
}
