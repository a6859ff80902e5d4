import GRDB
import MartletStorage
import MartletTelemetry

/// The ids of the batches that are stored. The store knows a batch for `age` after its arrival, and longer while its instance
/// goes on sending.
///
/// The size is bounded by the number of instances in that time: an instance takes a few bytes for 4096 sequences if all
/// arrived, and 0.5 KiB if some did not, as is usual for details.
enum BatchRows {
    /// Remembers a batch and returns its outcome, which holds once the transaction is committed. A batch without an id counts
    /// as new, because it cannot be told from another.
    ///
    /// - Parameter oldest: batches that arrived before this time are forgotten.
    static func remember(
        _ batch: BatchID?, at time: UnixNanoseconds, forgetting oldest: Int64, in db: Database
    ) throws -> StoreOutcome {
        guard let batch else { return .stored }
        let now = Int64(clamping: time)
        var stream = try BatchStream.findOrMake(for: batch, at: now, forgetting: oldest, in: db)
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
