import MartletTelemetry

/// The batches of one instance and signal that arrived.
package struct CopiedBatches: Sendable, Equatable {
    package var instance: String
    package var signal: Signal
    /// The sequences that arrived whole, in ascending order.
    package var whole: [ClosedRange<UInt64>]
    /// The batches of which only a part arrived, each with that part.
    package var parts: [BatchID]
    package var sequences: BatchSequences
    /// The latest arrival, by the collector's clock.
    package var received: UnixNanoseconds

    package init(
        instance: String, signal: Signal, whole: [ClosedRange<UInt64>], parts: [BatchID], sequences: BatchSequences,
        received: UnixNanoseconds
    ) {
        self.instance = instance
        self.signal = signal
        self.whole = whole
        self.parts = parts
        self.sequences = sequences
        self.received = received
    }
}
