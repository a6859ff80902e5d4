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
    /// The age up to which details are kept, counted from their arrival, in nanoseconds.
    package var detailAge: UnixNanoseconds = 24 * 3600 * 1_000_000_000
    /// The time for which the id of a batch is remembered at least, in nanoseconds. An agent keeps a batch without an answer
    /// for a shorter time (21 days).
    package var batchAge: UnixNanoseconds = 30 * 24 * 3600 * 1_000_000_000
    /// Cumulative streams of metrics whose latest point is kept; past it the streams that were silent for the longest time
    /// are deleted.
    package var maxCumulativeSeries = 100_000
    /// The longest interval that is accepted from the first point of an unknown sender, in nanoseconds: the coarsest interval
    /// that an agent sends.
    package var firstCumulativeInterval: UnixNanoseconds = 3600 * 1_000_000_000
    /// Rows of a report. A larger report fails with ``TooManyGroups``. A row takes some 10 KB beside its sketch until its report
    /// has been sent.
    package var maxGroups = 20_000
    /// Bytes of all sketches of a report. Past it they are made coarser, all alike (``GroupSums``).
    package var maxSketchBytes = 96 * 1024 * 1024
    /// The time that a transaction waits for further batches if ``ExpectedBatches`` counts more than are waiting, in seconds.
    package var commitDelay = 0.001
    /// Batches that wait for the transaction before theirs to be written. Past it the store is busy: ``StorageBusy``.
    package var maxWaitingBatches = 1000
    /// Bytes that these batches hold. The transaction that is being written may hold as many.
    package var maxWaitingBytes = 32 * 1024 * 1024

    package init() {}
}
