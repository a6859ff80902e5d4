import MartletStorage
import MartletTelemetry

/// The limits of a store on ClickHouse.
package struct ClickHouseLimits: Sendable, Equatable {
    /// The ages up to which points are kept. There are no points of minutes, because points are kept as they arrived for
    /// ``rawAge``.
    package var retention = Retention()
    /// The age up to which details are kept, counted from the day on which they started, in nanoseconds.
    package var detailAge: UnixNanoseconds = 7 * 24 * 3600 * 1_000_000_000
    /// The largest number of spans, the latest ones, whose traces a pass searches for calls to remember.
    var maxCallSpans = 20_000
    /// The time before the previous pass in which a pass looks for calls again, in nanoseconds. Spans of one trace arrive
    /// through several collectors, and a caller's span arrives after its callee's.
    var callSettling: UnixNanoseconds = 60 * 1_000_000_000
    /// The largest number of calls remembered for one day. A hundred services make several hundred.
    package var maxObservedCalls = 10_000
    /// The wait before cumulative points are counted, in nanoseconds. By then, earlier points that arrived through other collectors
    /// are also stored.
    package var cumulativeSettling: UnixNanoseconds = 30 * 1_000_000_000
    /// The wait from the last insert into a completed hour until the hour is built, in seconds. It is longer than
    /// ``ChangedHours/patience`` and than replicas may lag (``ClickHouseClient/hasAllReplicas()``).
    package var hourSettling = 120.0
    /// The approximate number of points that one statement adds up when it builds an hour. Such a statement takes some seconds.
    package var maxHourPoints: UInt64 = 2_000_000
    /// The age up to which cumulative points are kept as they arrived, in nanoseconds. If a stream was silent for longer, its
    /// next point adds no requests.
    var cumulativeAge: UnixNanoseconds = 7 * 24 * 3600 * 1_000_000_000
    /// The longest accepted interval of the first point of an unknown sender, in nanoseconds.
    package var firstCumulativeInterval: UnixNanoseconds = 3600 * 1_000_000_000
    /// The time limit for ClickHouse to answer a request, in seconds.
    package var answerTime = 30.0
    /// The minimum time between the starts of two inserts, in seconds. Many small inserts make many small files.
    package var insertPause = 1.0
    /// The approximate largest number of rows in one insert.
    package var maxRows = 50_000
    /// The largest number of batches that wait for the insert before theirs. Beyond it, the store refuses batches with
    /// ``StorageBusy``.
    package var maxWaitingBatches = 2000
    /// The most memory that these batches may take, in bytes.
    package var maxWaitingBytes = 96 * 1024 * 1024
    /// The largest number of rows of a report. A larger report fails with ``TooManyGroups``.
    package var maxGroups = 20_000
    /// See ``RetentionClock``.
    package var clockPatience: UnixNanoseconds = 3600 * 1_000_000_000

    package init() {}

    /// The age up to which points are kept as they arrived. It is at least some days more than the 21 days for which an agent
    /// keeps a batch, so that the rows of a resent batch still exist.
    var rawAge: Int64 { max(retention.age(.minute), 24 * StoredDay.length) }
}
