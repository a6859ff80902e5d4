/// The ledger of an agent, in requests: `captured = delivered + waiting + dropped`, always.
package struct Ledger: Sendable, Equatable {
    /// Requests that were seen since the process started.
    package var captured: UInt64
    /// Requests in batches that the collector acknowledged.
    package var delivered: UInt64
    /// Requests in memory or in the buffer.
    package var waiting: UInt64
    /// Requests that will never be delivered, by reason; empty as long as no request was lost.
    package var dropped: [DropReason: UInt64]

    package init(
        captured: UInt64 = 0, delivered: UInt64 = 0, waiting: UInt64 = 0, dropped: [DropReason: UInt64] = [:]
    ) {
        self.captured = captured
        self.delivered = delivered
        self.waiting = waiting
        self.dropped = dropped
    }
}
