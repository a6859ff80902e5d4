import GRDB
import MartletTelemetry

/// The parts that arrived of batches of which others did not. Two halves become the one that they are halves of.
enum BatchPartRows {
    /// Whether the part arrived, by itself or within a larger one.
    static func hasWhole(_ batch: BatchID, stream: Int64, in db: Database) throws -> Bool {
        try parts(of: batch, stream: stream, in: db).contains { batch.part.hasPrefix($0) }
    }

    /// Whether something of it did.
    static func hasSome(_ batch: BatchID, stream: Int64, in db: Database) throws -> Bool {
        try parts(of: batch, stream: stream, in: db).contains { $0.hasPrefix(batch.part) }
    }

    /// - Parameter oldest: parts of the stream that arrived before are forgotten.
    /// - Returns: whether all parts have arrived, and then remembers none of them any more.
    static func insert(
        _ batch: BatchID, stream: Int64, at now: Int64, forgetting oldest: Int64, in db: Database
    ) throws -> Bool {
        try db.cachedStatement(sql: "DELETE FROM batch_part WHERE stream_id = ? AND received < ?")
            .execute(arguments: [stream, oldest])
        var (known, part) = (try parts(of: batch, stream: stream, in: db), batch.part)
        while !part.isEmpty, known.contains(sibling(of: part)) { part.removeLast() }
        known = known.filter { $0.hasPrefix(part) }
        for gone in known { try delete(gone, of: batch, stream: stream, in: db) }
        guard !part.isEmpty else { return true }
        try db.cachedStatement(sql: "INSERT INTO batch_part VALUES (?, ?, ?, ?, ?)")
            .execute(arguments: [stream] + range(of: batch) + [part, now])
        return false
    }

    private static func parts(of batch: BatchID, stream: Int64, in db: Database) throws -> [String] {
        let statement = try db.cachedStatement(
            sql: "SELECT part FROM batch_part WHERE stream_id = ? AND first = ? AND sequence = ?")
        return try String.fetchAll(statement, arguments: [stream] + range(of: batch))
    }

    private static func delete(_ part: String, of batch: BatchID, stream: Int64, in db: Database) throws {
        try db.cachedStatement(
            sql: "DELETE FROM batch_part WHERE stream_id = ? AND first = ? AND sequence = ? AND part = ?"
        ).execute(arguments: [stream] + range(of: batch) + [part])
    }

    private static func range(of batch: BatchID) -> StatementArguments {
        [Int64(bitPattern: batch.first), Int64(bitPattern: batch.sequence)]
    }

    private static func sibling(of part: String) -> String {
        part.dropLast() + (part.last == "0" ? "1" : "0")
    }
}
