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
    /// The outbox was full, its batches were merged into coarser intervals, and still the oldest had to make room
    /// (`MARTLET_BUFFER_MAX`).
    case bufferFull = "buffer_full"
    /// The collector said that it will never take the batch, or took it and not all of its requests.
    case rejected
    /// The batch's file was gone when its turn came: another instance of the service made room with it, or somebody
    /// removed it.
    case gone
    /// The batch's file is not what was written: a disk that lost or changed something. It is in `quarantine/`.
    case corrupt
    /// The collector took no batch of that size, and it could not be divided any further.
    case tooLarge = "too_large"
    /// An upload had begun and its outcome stayed unknown for so long that the collector may have forgotten the batch:
    /// sent once more, it might count twice.
    case expired
    /// A process of another version of Martlet dropped them, for a reason that this one does not know.
    case other
}
