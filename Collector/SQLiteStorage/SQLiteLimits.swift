import MartletTelemetry

/// What the embedded store keeps at most.
package struct SQLiteLimits: Sendable, Equatable {
    /// How long points are kept, by their resolution.
    package var retention = Retention()
    /// Series of one service; what has no series of its own then counts to the endpoint `{other}` (see ``SeriesBudget``).
    package var maxSeriesPerService = 10_000
    /// Details of requests; past it the oldest go.
    package var maxDetails = 100_000
    /// How long details are kept, by the time of their arrival.
    package var detailAge: UnixNanoseconds = 24 * 3600 * 1_000_000_000
    /// How long the id of a batch is remembered at least. Longer than an agent keeps a batch of which it does not know
    /// whether it arrived (21 days).
    package var batchAge: UnixNanoseconds = 30 * 24 * 3600 * 1_000_000_000
    /// Streams of metrics that count on, of which the latest point is kept; past it those that were not heard of for the
    /// longest time go.
    package var maxCumulativeSeries = 100_000
    /// What a sender of which nothing is known may have counted before its first point and still be taken at its word: as
    /// long as the coarsest interval that an agent sends.
    package var firstCumulativeInterval: UnixNanoseconds = 3600 * 1_000_000_000
    /// Rows of a report. One with more fails: ``TooManyGroups``. A row takes some 8 KB until its report was sent.
    package var maxGroups = 20_000
    /// How long a transaction waits for others to be in it, in seconds, where ``ExpectedBatches`` has more than wait.
    package var commitDelay = 0.001
    /// Batches that wait for the transaction before theirs to be written. With more the store is busy: ``StorageBusy``.
    package var maxWaitingBatches = 1000
    /// Bytes that these batches hold. As many may be in the transaction that is being written.
    package var maxWaitingBytes = 32 * 1024 * 1024

    package init() {}
}
