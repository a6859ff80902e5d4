import Foundation
import GRDB
import MartletStorage
import MartletTelemetry

/// The ids of the stored batches. The store remembers a batch for `age` after its arrival, and longer while its instance keeps
/// sending.
///
/// The size depends on the number of instances in that time. For every 4096 sequences, an instance takes a few bytes if all
/// have arrived, and 0.5 KiB if some have not, as is usual for details.
enum BatchRows {
    /// Records a batch and returns its outcome, which is valid once the transaction is committed. A batch without an id counts as
    /// new, because it cannot be recognized.
    ///
    /// - Parameter oldest: batches that arrived before this time are forgotten.
    static func remember(
        _ batch: BatchID?, at time: UnixNanoseconds, forgetting oldest: Int64, in db: Database
    ) throws -> StoreOutcome {
        guard let batch else { return .stored }
        let now = Int64(clamping: time)
        var stream = try BatchStream.findOrMake(for: batch, at: now, in: db)
        let slices = try BatchBlockRows.find(batch.first...batch.sequence, stream: stream.id, in: db)
        let before = stream.hasParts ? try BatchPartRows.find(of: batch, stream: stream.id, in: db) : BatchParts()
        let arrival = BatchArrival(
            of: batch, knownSequences: slices.reduce(0) { $0 + $1.arrived }, knownParts: before)
        guard arrival.outcome != .duplicate else { return .duplicate }

        if !batch.part.isEmpty || !before.parts.isEmpty {
            try BatchPartRows.replace(
                with: arrival.parts, of: batch, stream: stream.id, at: now, forgetting: oldest, in: db)
        }
        if arrival.parts.isWhole {
            try BatchBlockRows.insert(slices, stream: stream.id, at: now, forgetting: oldest, in: db)
        }
        stream.sequences.add(arrival, of: batch)
        try stream.update(at: now, in: db)
        return arrival.outcome
    }
}

/// Deletes streams without a batch for long.
enum BatchStreamPruning {
    /// Returns streams without a batch since `oldest`, as many as one step deletes. A reader looks at all streams, because an index
    /// would be written with every batch.
    static func silent(since oldest: Int64, in db: Database) throws -> [Int64] {
        try Int64.fetchAll(
            db, sql: "SELECT id FROM batch_stream WHERE received < ? LIMIT \(SQLiteLimits.deletedRows)",
            arguments: [oldest])
    }

    static func delete(_ streams: [Int64], silentSince oldest: Int64, in db: Database) throws {
        let statement = try db.cachedStatement(sql: "DELETE FROM batch_stream WHERE id = ? AND received < ?")
        for stream in streams { try statement.execute(arguments: [stream, oldest]) }
    }
}

/// The row for the batches of one instance and signal. ``BatchBlockRows`` and ``BatchPartRows`` say which batches have arrived.
struct BatchStream {
    let id: Int64
    var sequences: BatchSequences
    /// Whether the stream has a batch that arrived only in part.
    let hasParts: Bool

    /// Returns `nil` if the stream is unknown or forgotten.
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
                    highestSequence: UInt64(bitPattern: row[1]), arrivedSequences: UInt64(bitPattern: row[2]),
                    overlappingBatches: UInt64(bitPattern: row[3])),
                hasParts: row[4])
        }
    }

    /// Returns the stream of a batch's sender.
    static func findOrMake(for batch: BatchID, at now: Int64, in db: Database) throws -> BatchStream {
        if let known = try find(instance: batch.instance, batch.signal, in: db) { return known }
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
        // Bit patterns keep all 64 bits, so that two sequences never become equal.
        try statement.execute(arguments: [
            Int64(bitPattern: sequences.highestSequence), Int64(bitPattern: sequences.arrivedSequences),
            Int64(bitPattern: sequences.overlappingBatches), now, id,
        ])
    }
}

/// The rows for the sequences of a stream that arrived whole.
enum BatchBlockRows {
    /// The part of a range of sequences that lies in one block.
    struct Slice {
        let block: Int64
        let positions: ClosedRange<Int>
        /// `nil` if nothing in the block has arrived.
        var bits: BatchBlock?

        /// The number of arrived sequences in the slice.
        var arrived: Int { bits?.count(in: positions) ?? 0 }
    }

    static func find(_ sequences: ClosedRange<UInt64>, stream: Int64, in db: Database) throws -> [Slice] {
        let statement = try db.cachedStatement(sql: "SELECT bits FROM batch_block WHERE stream_id = ? AND block = ?")
        let size = BatchBlock.size
        return try (sequences.lowerBound / size...sequences.upperBound / size).map { block in
            let part = sequences.clamped(to: block * size...block * size + (size - 1))
            let bits = try Data.fetchOne(statement, arguments: [stream, Int64(block)])
            return Slice(
                block: Int64(block), positions: Int(part.lowerBound % size)...Int(part.upperBound % size),
                bits: bits.map(BatchBlock.init))
        }
    }

    /// Marks the sequences as arrived.
    ///
    /// - Parameter oldest: when a block begins, the stream's blocks without a batch since this time are deleted.
    static func insert(
        _ slices: [Slice], stream: Int64, at now: Int64, forgetting oldest: Int64, in db: Database
    ) throws {
        let statement = try db.cachedStatement(
            sql: """
                INSERT INTO batch_block (stream_id, block, received, bits) VALUES (?, ?, ?, ?)
                ON CONFLICT DO UPDATE SET received = max(received, excluded.received), bits = excluded.bits
                """)
        for slice in slices {
            if slice.bits == nil {
                try db.cachedStatement(sql: "DELETE FROM batch_block WHERE stream_id = ? AND received < ?")
                    .execute(arguments: [stream, oldest])
            }
            var block = slice.bits ?? BatchBlock()
            block.insert(slice.positions)
            try statement.execute(arguments: [stream, slice.block, now, block.blob])
        }
    }
}

/// The rows for the arrived parts of incomplete batches.
enum BatchPartRows {
    static func find(of batch: BatchID, stream: Int64, in db: Database) throws -> BatchParts {
        let statement = try db.cachedStatement(
            sql: "SELECT part FROM batch_part WHERE stream_id = ? AND first = ? AND sequence = ?")
        return BatchParts(try String.fetchSet(statement, arguments: [stream] + range(of: batch)))
    }

    /// Replaces the rows of a batch's parts. A batch that has arrived whole keeps no rows.
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
