import Foundation
import GRDB
import MartletTelemetry

/// Which sequences of a stream arrived whole.
enum BatchBlockRows {
    /// How many of the sequences did.
    static func count(of sequences: ClosedRange<UInt64>, stream: Int64, in db: Database) throws -> Int {
        try slices(of: sequences).reduce(0) { count, slice in
            try count + (find(slice.block, stream: stream, in: db)?.count(in: slice.positions) ?? 0)
        }
    }

    /// - Parameter oldest: blocks of the stream of which nothing arrived since are forgotten where a new one begins.
    static func insert(
        _ sequences: ClosedRange<UInt64>, stream: Int64, at now: Int64, forgetting oldest: Int64, in db: Database
    ) throws {
        let statement = try db.cachedStatement(
            sql: """
                INSERT INTO batch_block (stream_id, block, received, bits) VALUES (?, ?, ?, ?)
                ON CONFLICT DO UPDATE SET received = max(received, excluded.received), bits = excluded.bits
                """)
        for slice in slices(of: sequences) {
            let known = try find(slice.block, stream: stream, in: db)
            if known == nil {
                try db.cachedStatement(sql: "DELETE FROM batch_block WHERE stream_id = ? AND received < ?")
                    .execute(arguments: [stream, oldest])
            }
            var block = known ?? BatchBlock()
            block.insert(slice.positions)
            try statement.execute(arguments: [stream, slice.block, now, block.blob])
        }
    }

    private static func find(_ block: Int64, stream: Int64, in db: Database) throws -> BatchBlock? {
        let statement = try db.cachedStatement(sql: "SELECT bits FROM batch_block WHERE stream_id = ? AND block = ?")
        return try Data.fetchOne(statement, arguments: [stream, block]).map(BatchBlock.init)
    }

    /// What the sequences are of each block that they touch.
    private static func slices(
        of sequences: ClosedRange<UInt64>
    ) -> some Sequence<(block: Int64, positions: ClosedRange<Int>)> {
        let size = BatchBlock.size
        return (sequences.lowerBound / size...sequences.upperBound / size).lazy.map { block in
            let whole = block * size...block * size + (size - 1)
            let part = sequences.clamped(to: whole)
            return (Int64(block), Int(part.lowerBound % size)...Int(part.upperBound % size))
        }
    }
}
