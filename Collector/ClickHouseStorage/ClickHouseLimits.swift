import MartletStorage
import MartletTelemetry

/// The limits of a store on ClickHouse.
package struct ClickHouseLimits: Sendable, Equatable {
    /// The ages up to which points are kept. There are no points of minutes: points as they came stay for ``rawAge``.
    package var retention = Retention()
    /// The age up to which details are kept, counted from the day that they started on, in nanoseconds.
    package var detailAge: UnixNanoseconds = 24 * 3600 * 1_000_000_000
    /// Spans that came last, of whose traces a pass remembers the calls.
    var maxCallSpans = 20_000
    /// The time for which a pass looks back further than to the pass before: spans of one trace come through several collectors, and
    /// a caller's after that of its callee. In nanoseconds.
    var callSettling: UnixNanoseconds = 60 * 1_000_000_000
    /// Calls of a day that are remembered. A hundred services make some hundreds.
    package var maxObservedCalls = 10_000
    /// The time after which cumulative points are counted: by then those that came before them through other collectors are
    /// stored too. In nanoseconds.
    package var cumulativeSettling: UnixNanoseconds = 30 * 1_000_000_000
    /// The time from the last insert into an hour that is over until it is made, in seconds: longer than the patience of
    /// ``ChangedHours``, and than replicas may lag (``ClickHouseClient/hasAllReplicas()``).
    package var hourSettling = 120.0
    /// Points that one statement makes an hour of, roughly: it takes some seconds.
    package var maxHourPoints: UInt64 = 2_000_000
    /// The age up to which cumulative points are kept as they came, in nanoseconds. The first point of a stream that was silent
    /// for longer counts nothing.
    var cumulativeAge: UnixNanoseconds = 7 * 24 * 3600 * 1_000_000_000
    /// The longest interval that is accepted from the first point of an unknown sender, in nanoseconds.
    package var firstCumulativeInterval: UnixNanoseconds = 3600 * 1_000_000_000
    /// The time that ClickHouse has for the answer to a request, in seconds.
    package var answerTime = 30.0
    /// The time from the beginning of one insert to that of the next, in seconds: many small inserts make many small files.
    package var insertPause = 1.0
    /// Rows of one insert at most, roughly.
    package var maxRows = 50_000
    /// Batches that wait for the insert before theirs. Past it the store is busy: ``StorageBusy``.
    package var maxWaitingBatches = 2000
    /// Bytes that these batches hold.
    package var maxWaitingBytes = 96 * 1024 * 1024
    /// Rows of a report. A larger report fails with ``TooManyGroups``.
    package var maxGroups = 20_000
    /// See ``RetentionClock``.
    package var clockPatience: UnixNanoseconds = 3600 * 1_000_000_000

    package init() {}

    /// The age up to which points are kept as they came: never less than the 21 days for which an agent keeps a batch, and some
    /// days more, so that a batch that comes again finds its rows.
    var rawAge: Int64 { max(retention.age(.minute), 24 * StoredDay.length) }
}
