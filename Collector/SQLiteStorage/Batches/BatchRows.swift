import GRDB
import MartletStorage
import MartletTelemetry

/// The ids of the batches that are stored. The store knows a batch for `age` after its arrival, and longer while its instance
/// goes on sending.
///
/// The size is bounded by the number of instances in that time: an instance takes a few bytes for 4096 sequences if all
/// arrived, and 0.5 KiB if some did not, as is usual for details.
enum BatchRows {
    /// Remembers a batch and returns whether it is new. A batch without an id counts as new, because it cannot be told from
    /// another.
    static func remember(
        _ batch: BatchID?, at time: UnixNanoseconds, keeping age: UnixNanoseconds, in db: Database
    ) throws -> StoreOutcome {
        guard let batch else { return .stored }
        let now = Int64(clamping: time)
        let oldest = now - Int64(clamping: age)
        var stream = try BatchStream.findOrMake(for: batch, at: now, forgetting: oldest, in: db)
        let sequences = batch.first...batch.sequence
        let slices = try BatchBlockRows.find(sequences, stream: stream.id, in: db)
        let known = slices.reduce(0) { $0 + $1.arrived }
        let before =
            stream.hasParts ? try BatchPartRows.find(of: batch, stream: stream.id, in: db) : BatchParts()
        if known == sequences.count || before.contains(batch.part) { return .duplicate }
        let isOverlapping = known > 0 || before.overlaps(batch.part)

        var parts = before
        parts.insert(batch.part)
        if !batch.part.isEmpty || !before.parts.isEmpty {
            try BatchPartRows.replace(
                with: parts, of: batch, stream: stream.id, at: now, forgetting: oldest, in: db)
        }
        if parts.isWhole {
            try BatchBlockRows.insert(slices, stream: stream.id, at: now, forgetting: oldest, in: db)
            stream.arrivedSequences &+= UInt64(sequences.count - known)
        }
        stream.highestSequence = max(stream.highestSequence, batch.sequence)
        if isOverlapping { stream.overlappingBatches &+= 1 }
        try stream.update(at: now, in: db)
        return isOverlapping ? .overlapping : .stored
    }
}
