import Foundation
import GRDB
import MartletStorage
import MartletTelemetry

/// The rows of the sequences of a stream that arrived whole.
enum BatchBlockRows {
    /// The part of a range of sequences that lies in one block.
    struct Slice {
        let block: Int64
        let positions: ClosedRange<Int>
        /// `nil` if nothing of the block arrived.
        var bits: BatchBlock?

        /// The number of these sequences that arrived.
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
    /// - Parameter oldest: when a block begins, the stream's blocks that received nothing since this time are deleted.
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
