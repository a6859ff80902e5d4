import MartletTelemetry

/// The consequences of a batch's arrival for the sequences of its stream. Pure.
package struct BatchArrival: Sendable, Equatable {
    /// The answer to the batch, once it is stored.
    package let outcome: StoreOutcome
    /// The parts of the batch that have arrived, with this one.
    package let parts: BatchParts
    /// Sequences that have arrived whole with this batch and not before.
    package let newSequences: UInt64

    /// - Parameters:
    ///   - known: the number of the batch's sequences that had arrived whole.
    ///   - before: the parts of the batch that had arrived.
    package init(of batch: BatchID, knownSequences known: Int, knownParts before: BatchParts) {
        let count = batch.sequence - batch.first + 1
        guard known < count, !before.contains(batch.part) else {
            (outcome, parts, newSequences) = (.duplicate, before, 0)
            return
        }
        var after = before
        after.insert(batch.part)
        outcome = known > 0 || before.overlaps(batch.part) ? .overlapping : .stored
        parts = after
        newSequences = after.isWhole ? count - UInt64(known) : 0
    }
}
