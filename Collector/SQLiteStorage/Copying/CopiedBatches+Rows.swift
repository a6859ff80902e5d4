import GRDB
import MartletStorage
import MartletTelemetry

extension CopiedBatches {
    /// Streams of a part at most, and the ranges after which it ends.
    private static let (maxRows, maxRanges) = (200, 20_000)

    static func part(after number: Int64, in db: Database) throws -> CopiedPart? {
        let rows = try Row.fetchCursor(
            db, sql: "SELECT * FROM batch_stream WHERE id > ? ORDER BY id LIMIT \(maxRows)", arguments: [number])
        var (found, count, last) = ([CopiedBatches](), 0, Int64?.none)
        while count < maxRanges, let row = try rows.next() {
            last = row["id"]
            guard let batches = try batches(of: row, in: db) else { continue }
            count += batches.whole.count + batches.parts.count
            found.append(batches)
        }
        return last.map { CopiedPart(.batches(found), last: $0) }
    }

    /// Returns `nil` for a signal that this version does not know.
    private static func batches(of row: Row, in db: Database) throws -> CopiedBatches? {
        let (id, instance, received): (Int64, String, Int64) = (row["id"], row["instance"], row["received"])
        guard let signal = Signal(rawValue: row["signal"]),
            let stream = try BatchStream.find(instance: instance, signal, in: db)
        else { return nil }
        let parts = try Row.fetchAll(db, sql: "SELECT * FROM batch_part WHERE stream_id = ?", arguments: [id])
        return CopiedBatches(
            instance: instance, signal: signal, whole: try whole(of: id, in: db),
            parts: parts.map { row in
                let (first, last): (Int64, Int64) = (row["first"], row["sequence"])
                return BatchID(
                    instance: instance, sequence: UInt64(bitPattern: last), first: UInt64(bitPattern: first),
                    part: row["part"], signal: signal)
            },
            sequences: stream.sequences, received: UInt64(clamping: received))
    }

    /// Returns the sequences of a stream that arrived whole.
    private static func whole(of stream: Int64, in db: Database) throws -> [ClosedRange<UInt64>] {
        let blocks = try Row.fetchCursor(
            db, sql: "SELECT block, bits FROM batch_block WHERE stream_id = ? ORDER BY block", arguments: [stream])
        var ranges: [ClosedRange<UInt64>] = []
        while let row = try blocks.next() {
            let (number, bits): (Int64, BatchBlock) = (row["block"], BatchBlock(row["bits"]))
            let (first, isPastAllNumbers) = UInt64(clamping: number).multipliedReportingOverflow(by: BatchBlock.size)
            if isPastAllNumbers { break }
            for position in 0..<Int(BatchBlock.size) where bits.count(in: position...position) == 1 {
                let sequence = first + UInt64(position)
                if let last = ranges.last, last.upperBound + 1 == sequence {
                    ranges[ranges.count - 1] = last.lowerBound...sequence
                } else {
                    ranges.append(sequence...sequence)
                }
            }
        }
        return ranges
    }
}
