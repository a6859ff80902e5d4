/// The account of an agent, in requests: `captured = delivered + waiting + dropped`, always.
public struct Ledger: Sendable, Equatable {
    /// Requests that were seen since the process started.
    public var captured: UInt64
    /// Requests in batches that the collector acknowledged.
    public var delivered: UInt64
    /// Requests in memory or in the outbox.
    public var waiting: UInt64
    /// Requests that will never be delivered, by reason; empty as long as nothing was lost.
    public var dropped: [DropReason: UInt64]

    public init(
        captured: UInt64 = 0, delivered: UInt64 = 0, waiting: UInt64 = 0, dropped: [DropReason: UInt64] = [:]
    ) {
        self.captured = captured
        self.delivered = delivered
        self.waiting = waiting
        self.dropped = dropped
    }
}

/// Why requests were lost. The raw value is the `martlet.reason` attribute on the wire.
public enum DropReason: String, Sendable, Hashable, CaseIterable {
    /// The outbox was full, so the oldest batch made room (`MARTLET_BUFFER_MAX`).
    case bufferFull = "buffer_full"
    /// The collector said that it will never take the batch.
    case rejected
    /// The batch's file was gone when its turn came: another instance of the service made room with it, or somebody
    /// removed it.
    case gone
}
