import MartletStorage
import MartletTelemetry

/// The limits of the embedded store.
package struct SQLiteLimits: Sendable, Equatable {
    /// The ages up to which points are kept, by their resolution.
    package var retention = Retention()
    /// Series of one service. Requests past it count to the endpoint `{other}` (see ``SeriesBudget``).
    package var maxSeriesPerService = 10_000
    /// Details of requests; past it the oldest are deleted.
    package var maxDetails = 100_000
    /// Bytes of the details; past it the oldest are deleted likewise.
    package var maxDetailsBytes = 1 << 30
    /// Bytes of the pages in use. Past it the oldest details are deleted, then the oldest fine points: see ``Shedding``.
    package var maxStoreBytes: UInt64 = 10 << 30
    /// Bytes of the log past which it is folded even if reports would have to wait for that.
    package var maxLogBytes: UInt64 = 64 << 20
    /// Bytes that are kept free on the disk for deletions. SQLite tries to fold the log at 16 MiB, and on a disk with less
    /// room than that the log grows by this room.
    var reserveBytes = 32 << 20
    /// The age up to which details are kept, counted from their arrival, in nanoseconds.
    package var detailAge: UnixNanoseconds = 24 * 3600 * 1_000_000_000
    /// Calls between services that are remembered; past it those that were not observed for the longest time are deleted. A call
    /// takes some 300 bytes, and a hundred services make some hundreds of calls.
    package var maxObservedCalls = 10_000
    /// The time for which the id of a batch is remembered at least, in nanoseconds. An agent keeps a batch without an answer
    /// for a shorter time (21 days).
    package var batchAge: UnixNanoseconds = 30 * 24 * 3600 * 1_000_000_000
    /// Cumulative streams of metrics whose latest point is kept. Past it a new stream displaces those that were silent for the
    /// longest time, and waits uncounted while none is silent.
    package var maxCumulativeSeries = 100_000
    /// The time after which a stream counts as silent, in nanoseconds: longer than the usual intervals of export.
    package var cumulativeSilence: UnixNanoseconds = 3600 * 1_000_000_000
    /// The longest interval that is accepted from the first point of an unknown sender, in nanoseconds: the coarsest interval
    /// that an agent sends.
    package var firstCumulativeInterval: UnixNanoseconds = 3600 * 1_000_000_000
    /// The longest step of the collector's clock that is no jump, and the time for which a clock that jumped has to run on, in
    /// nanoseconds: see ``RetentionClock``.
    package var clockPatience: UnixNanoseconds = 3600 * 1_000_000_000
    /// Rows of a report. A larger report fails with ``TooManyGroups``. A row takes some 10 KB beside its sketch until its report
    /// has been sent.
    package var maxGroups = 20_000
    /// Bytes of the buckets of all sketches of a report, without spare room. Past it they are made coarser, all alike, and those of
    /// slots first (``GroupSums``).
    package var maxSketchBytes = 96 * 1024 * 1024
    /// The time that a transaction waits for further batches if ``ExpectedBatches`` counts more than are waiting, in seconds.
    package var commitDelay = 0.001
    /// Batches that wait for the transaction before theirs to be written. Past it the store is busy: ``StorageBusy``.
    package var maxWaitingBatches = 1000
    /// Bytes that these batches hold. The transaction that is being written may hold as many.
    package var maxWaitingBytes = 32 * 1024 * 1024

    package init() {}
}
