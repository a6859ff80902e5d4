import MartletStorage
import MartletTelemetry

/// The limits of the embedded store.
package struct SQLiteLimits: Sendable, Equatable {
    /// The largest number of rows that one step deletes from each table, so that batches do not wait long.
    package static let deletedRows = 256

    /// The largest number of readings, figures or senders that one step folds or deletes. Each is in several tables.
    static let foldedRows = 64

    /// The ages up to which points are kept, by their resolution.
    package var retention = Retention()
    /// The largest number of series of a service. Past it, requests are counted under the endpoint `{other}` (see
    /// ``SeriesBudget``).
    package var maxSeriesPerService = 10_000
    /// The largest number of details of requests. Past it, some are deleted: see ``DetailPruning``.
    package var maxDetails = 100_000
    /// The largest number of bytes of the details. Past it, some are deleted: see ``DetailPruning``.
    package var maxDetailsBytes = 1 << 30
    /// The largest number of bytes of the pages in use. Past it, the oldest details are deleted, then the oldest fine points:
    /// see ``Shedding``.
    package var maxStoreBytes: UInt64 = 10 << 30
    /// The largest number of bytes of the log. Past it, the log is folded even if reports have to wait.
    package var maxLogBytes: UInt64 = 64 << 20
    /// Bytes kept free on the disk for deletions. SQLite tries to fold the log at 16 MiB, and on a disk with less room than that
    /// the log grows by this room.
    var reserveBytes = 32 << 20
    /// The age up to which details are kept, counted from their arrival, in nanoseconds.
    package var detailAge: UnixNanoseconds = 7 * 24 * 3600 * 1_000_000_000
    /// The largest number of remembered calls between services. Past it, the least recently observed calls are deleted. A call
    /// takes about 300 bytes, and a hundred services make several hundred calls.
    package var maxObservedCalls = 10_000
    /// The minimum time for which the id of a batch is remembered, in nanoseconds. An agent keeps an unanswered batch for less (21
    /// days).
    package var batchAge: UnixNanoseconds = 30 * 24 * 3600 * 1_000_000_000
    /// The largest number of cumulative metric streams whose latest point is kept. Past it, a new stream displaces those that
    /// have been silent longest. While none is silent, the new stream waits and is not counted.
    package var maxCumulativeSeries = 100_000
    /// The time after which a stream counts as silent, in nanoseconds. It exceeds the usual export intervals.
    package var cumulativeSilence: UnixNanoseconds = 3600 * 1_000_000_000
    /// The longest accepted interval of the first point of an unknown sender, in nanoseconds. It equals the coarsest interval that
    /// an agent sends.
    package var firstCumulativeInterval: UnixNanoseconds = 3600 * 1_000_000_000
    /// The largest step of the collector's clock that is not a jump, and how long a clock has to run on after a jump, in
    /// nanoseconds: see ``RetentionClock``.
    package var clockPatience: UnixNanoseconds = 3600 * 1_000_000_000
    /// The largest number of rows of a report. A larger report fails with ``TooManyGroups``. Until its report has been sent, a
    /// row takes about 10 KB and the memory of its sketch.
    package var maxGroups = 20_000
    /// The largest number of rows from which a report with a limit takes the first. Each takes about 250 bytes.
    package var maxRankedGroups = 500_000
    /// The largest number of bytes of the buckets of all sketches of a report, without spare room. Past it, all sketches become
    /// coarser by the same amount, those of slots first (``GroupSums``).
    package var maxSketchBytes = 96 * 1024 * 1024
    /// The time that a transaction waits for further batches if ``ExpectedBatches`` expects more than are waiting, in seconds.
    package var commitDelay = 0.001
    /// The largest number of batches that wait for the current transaction to end. Past it, the store throws ``StorageBusy``.
    package var maxWaitingBatches = 1000
    /// The largest number of bytes that these batches hold. The current transaction may hold as many again.
    package var maxWaitingBytes = 32 * 1024 * 1024

    package init() {}
}
