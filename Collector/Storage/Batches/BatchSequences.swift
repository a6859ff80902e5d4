import MartletTelemetry

/// The batches of one instance and signal that arrived, in numbers. Sequences count from 1.
package struct BatchSequences: Sendable, Equatable {
    /// The latest sequence of which anything arrived; 0 at first.
    package var highestSequence: UInt64
    /// Sequences that arrived whole.
    package var arrivedSequences: UInt64
    /// Batches that arrived after some of their intervals had.
    package var overlappingBatches: UInt64

    package init(highestSequence: UInt64 = 0, arrivedSequences: UInt64 = 0, overlappingBatches: UInt64 = 0) {
        self.highestSequence = highestSequence
        self.arrivedSequences = arrivedSequences
        self.overlappingBatches = overlappingBatches
    }

    /// The gaps and overlaps. A sequence is missing if it did not arrive although a later one did.
    package var gaps: BatchGaps {
        BatchGaps(
            missing: highestSequence > arrivedSequences ? highestSequence - arrivedSequences : 0,
            overlapping: overlappingBatches)
    }

    /// Counts a batch that is no duplicate.
    package mutating func add(_ arrival: BatchArrival, of batch: BatchID) {
        highestSequence = max(highestSequence, batch.sequence)
        arrivedSequences &+= arrival.newSequences
        if arrival.outcome == .overlapping { overlappingBatches &+= 1 }
    }
}
