import Foundation
import GRDB
import MartletTelemetry

/// Which sequences of a stream arrived whole.
enum BatchBlockRows {
    /// What some sequences are of one block that they touch.
    struct Slice {
        let block: Int64
        let positions: ClosedRange<Int>
        /// `nil` where nothing of the block arrived.
        var bits: BatchBlock?

        /// How many of the sequences arrived.
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

    /// - Parameter oldest: blocks of the stream of which nothing arrived since are forgotten where a new one begins.
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
