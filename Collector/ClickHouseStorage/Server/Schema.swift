import MartletStorage

/// All tables of a store, and their version.
///
/// Times are nanoseconds since 1970. `hour` is the hour in which a time ends, `(end - 1) / 3600 s`. For an absent value, text
/// columns hold `''` and number columns 0. `sender`, `series` and `batch` are hashes of contents (``RowIdentity``), so collectors
/// need no coordination.
enum Schema {
    /// The version of these tables. A change to a released table needs a new version, which only adds to the one before.
    static let version: UInt32 = 2

    static let all =
        [
            migration, store, versionsRolled, sender, series, point, difference, versionHour, process, processHour,
            cumulative, processTotal, arrival, ledger, batch, detail, countedSpans, observedCall, changedHour,
            ledgerHour, earlyVersionHour, wholeVersionHour, sharedSender, processEnd, notification, finding,
            findingsLease,
        ] + ofOlderHours

    /// The tables of a Martlet whose hours belonged to processes. This one only turns them into hours of versions.
    static let ofOlderHours = [rolled, hour]

    /// The tables that hours of versions and `ledger_hour` replace. Their parts have four weeks each.
    static let replacedByHours = [hour, ledger]

    /// The tables that are kept as long as hours. Their parts have four weeks each.
    static let keptAsHours = [
        versionHour, processHour, ledgerHour, changedHour, earlyVersionHour, wholeVersionHour, ledger, batch, sender,
        sharedSender, processEnd,
    ]

    /// The settings of the tables' engine that make a server write rows to disk before it answers. Old servers do not have
    /// them.
    static func durability(isModern: Bool) -> [String] {
        isModern ? ["fsync_after_insert = 1", "fsync_part_directory = 1"] : []
    }

    static let migration = Table("migration", key: "version", "version UInt32")
    /// The store's id. If two commands create one at the same time, the smaller id wins.
    static let store = Table("store", key: "id", "id String")
    /// The hour before which points are read from `version_hour` and not from `point`, as a number of hours since 1970. It only
    /// grows.
    static let versionsRolled = Table("versions_rolled", key: "until", "until UInt32")
    /// The same for `hour`: see ``RolledHours``.
    static let rolled = Table("rolled", key: "until", "until UInt32")

    /// The senders as each collector process has seen them. While a sender runs, its newer rows go to later parts.
    static let sender = Table(
        "sender", key: "service, id, writer", version: "revision",
        partition: "intDiv(last_seen, \(672 * StoredHour.length))",
        """
        service String
        id UInt64
        writer UInt64
        revision UInt64
        \(Dimension.ofSenderRow.lines)
        host String
        \(SenderText.state.lines)
        rules Int64
        first_seen Int64
        last_seen Int64
        last_end Int64
        kinds UInt8
        first_reading Int64
        last_reading Int64
        time Int64
        captured UInt64
        delivered UInt64
        waiting UInt64
        dropped String
        requests UInt64
        age UInt64
        unwatched UInt64
        cpu UInt64
        """)

    /// The series of each service with the latest day on which they had points, for lists of the values of dimensions.
    static let series = Table(
        "series", key: "service, series", version: "day", partition: "intDiv(day, 28)",
        """
        service String
        series UInt64
        day UInt32
        \(Dimension.ofRequest.lines)
        """)

    private static let statistics = """
        hour UInt32
        service String
        series UInt64
        end_ns Int64
        sender UInt64
        batch FixedString(16)
        start_ns Int64
        ordinal UInt32
        points UInt64
        \(Dimension.ofPoint.lines)
        outcome UInt8
        \(figures)
        """

    private static let figures = """
        count UInt64
        total Float64
        low Float64
        has_low UInt8
        high Float64
        has_high UInt8
        zeros UInt64
        scale Int8
        indexes Array(Int32)
        counts Array(UInt64)
        sent UInt64
        received UInt64
        phase_counts Array(UInt64)
        phase_seconds Array(Float64)
        """

    /// Points of metrics and of spans are read separately, so they are stored separately.
    private static let pointKey = "hour, spans, service, series, end_ns, sender, batch, start_ns, ordinal"

    /// Points as they arrived, by week.
    static let point = Table(
        "point", key: pointKey, partition: "intDiv(hour, \(hoursOfPart))", shard: "sender", statistics)
    /// The points of each hour and version of a service, added up, by four weeks. `instance` is `''` and `sender` a hash of the
    /// version. If an hour was built twice, the row from more points wins.
    static let versionHour = Table(
        "version_hour", key: pointKey, version: "points", partition: "intDiv(hour, 672)", shard: "sender", statistics)
    /// The same for each process.
    static let hour = Table(
        "hour", key: pointKey, version: "points", partition: "intDiv(hour, 672)", shard: "sender", statistics)

    /// The hours of the stored points, figures of processes and readings of ledgers, by the process that stored them: see
    /// ``ChangedHours``. `metrics` is 1 if they include points of metrics or readings.
    static let changedHour = Table(
        "changed_hour", key: "hour, metrics, writer", version: "revision", partition: "intDiv(hour, 672)",
        """
        hour UInt32
        metrics UInt8
        writer UInt64
        revision UInt64
        """)
    /// The hours that were built early. `revision` is the sum of the revisions in `changed_hour` when their points were read.
    static let earlyVersionHour = Table(
        "early_version_hour", key: "hour", version: "revision", partition: "intDiv(hour, 672)", builtHourColumns)
    /// The hours that were built from all their points, with the same sum.
    static let wholeVersionHour = Table(
        "whole_version_hour", key: "hour", version: "revision", partition: "intDiv(hour, 672)", builtHourColumns)
    private static let builtHourColumns = """
        hour UInt32
        revision UInt64
        """

    /// The differences of cumulative points, in the same parts as `point`. Of two rows, the one with the higher revision wins.
    static let difference = Table(
        "difference", key: "hour, service, series, end_ns, sender, batch", version: "revision",
        partition: "intDiv(hour, \(hoursOfPart))", shard: "sender", statistics + "\nrevision UInt64")

    /// The tables whose points are rolled up into hours. They all have the same parts.
    static let rolledUp = [point, difference, process]
    /// The number of hours in one part of `point`.
    static let hoursOfPart: Int64 = 168

    private static let processFigures = """
        hour UInt32
        sender UInt64
        end_ns Int64
        batch FixedString(16)
        ordinal UInt32
        revision UInt64
        start_ns Int64
        points UInt64
        counters UInt8
        counts Array(UInt64)
        covered UInt64
        gauge_counts Array(UInt64)
        gauge_sums Array(UInt64)
        gauge_maxima Array(UInt64)
        """

    /// The figures of processes as they arrived, by week. The arrays have an element for each counter or gauge. Bit n of `counters`
    /// is set if counter n was reported.
    static let process = Table(
        "process", key: "hour, sender, end_ns, batch, ordinal", version: "revision",
        partition: "intDiv(hour, \(hoursOfPart))", shard: "sender", processFigures)
    /// The figures of a process in one hour, from the start of the first interval to the end of the last, by four weeks.
    static let processHour = Table(
        "process_hour", key: "hour, sender", version: "points", partition: "intDiv(hour, 672)", shard: "sender",
        processFigures)

    /// Points of cumulative streams as they arrived, by day of arrival. `arrival` is the time of arrival by the collector's clock,
    /// and `hour` its hour. The two tables below have the same columns.
    static let cumulative = Table(
        "cumulative", key: "hour, sender, arrival, stream, start_ns, end_ns", partition: "intDiv(hour, 24)",
        shard: "sender",
        """
        hour UInt32
        sender UInt64
        arrival Int64
        stream FixedString(16)
        start_ns Int64
        end_ns Int64
        unit Float64
        \(Dimension.ofRequest.lines)
        \(figures)
        """)
    /// Counters of processes as senders of cumulative metrics report them.
    static let processTotal = Table(
        "process_total", key: "hour, sender, arrival, counter, start_ns, end_ns", partition: "intDiv(hour, 24)",
        shard: "sender",
        """
        hour UInt32
        sender UInt64
        arrival Int64
        counter UInt8
        start_ns Int64
        end_ns Int64
        value UInt64
        """)
    /// The batches with rows in `cumulative` or `process_total`. `counted` is 1 once their differences are stored. `reading` is the
    /// time of the ledger's reading that came with them; 0 without one.
    static let arrival = Table(
        "arrival", key: "hour, sender, arrival", version: "counted", partition: "intDiv(hour, 24)", shard: "sender",
        """
        hour UInt32
        sender UInt64
        arrival Int64
        \(Dimension.ofSender.lines)
        reading Int64
        counted UInt8
        """)

    /// The hours in which points ended of a sender that several processes share.
    static let sharedSender = Table(
        "shared_sender", key: "hour, sender", partition: "intDiv(hour, 672)", shard: "sender",
        """
        hour UInt32
        sender UInt64
        """)

    /// The ends of processes, as the next process of the service reported them. `instance` and `version` are those of the process
    /// that ended, and `end_ns` is its last sign of life.
    static let processEnd = Table(
        "process_end", key: "hour, service, environment, instance, end_ns", partition: "intDiv(hour, 672)",
        """
        hour UInt32
        service String
        environment String
        version String
        instance String
        reporter String
        end_ns Int64
        cause String
        signal String
        function String
        file String
        line Int64
        endpoint String
        """)

    /// The readings of the senders' ledgers, one for each batch. Once four weeks have become hours, ``ledgerHour`` replaces them.
    static let ledger = Table(
        "ledger", key: "hour, sender, time, batch", partition: "intDiv(hour, 672)", shard: "sender",
        """
        hour UInt32
        sender UInt64
        time Int64
        batch FixedString(16)
        captured UInt64
        requests UInt64
        age UInt64
        unwatched UInt64
        """)

    /// The first and the last reading of a sender in an hour, and the sum of the requests of all. If an hour was built twice, the
    /// row from more batches wins.
    static let ledgerHour = Table(
        "ledger_hour", key: "hour, sender", version: "batches", partition: "intDiv(hour, 672)", shard: "sender",
        """
        hour UInt32
        sender UInt64
        batches UInt64
        first_time Int64
        first_captured Float64
        first_requests Float64
        first_age Float64
        first_unwatched Float64
        time Int64
        captured Float64
        requests Float64
        unwatched Float64
        """)

    /// The batches that have arrived. `merged` is 1 for a batch of several sequences. `fresh` is the number of sequences that
    /// this batch completed. A batch without a number has the hash of its contents as its instance.
    ///
    /// Each insert looks up hundreds of batches, so few rows share an index entry.
    static let batch = Table(
        "batch", key: "instance, signal, merged, last, first, part, hour", partition: "intDiv(hour, 672)",
        indexGranularity: 1024,
        """
        hour UInt32
        instance String
        signal String
        merged UInt8
        last UInt64
        first UInt64
        part String
        fresh UInt64
        overlapping UInt64
        """)

    /// The requests of unnumbered senders whose spans have been counted, by the day on which the latest span ended: see
    /// ``CountedSpans``.
    static let countedSpans = Table(
        "counted_spans", key: "name, day", partition: "day",
        """
        day UInt32
        name FixedString(16)
        """)

    /// Calls between services that spans showed, by the day on which the callee's span started. They are kept after the spans
    /// are deleted. `service` and `environment` belong to the callee.
    static let observedCall = Table(
        "observed_call", key: "day, service, environment, served_host, caller, called_host",
        partition: "intDiv(day, 28)",
        """
        day UInt32
        service String
        environment String
        served_host String
        caller String
        called_host String
        """)

    /// What receivers of notifications have acknowledged about findings, by day: see `NotificationKey` and `NotifiedState`. The
    /// latest row of a name counts.
    static let notification = Table(
        "notification", key: "name, day", version: "time", partition: "day",
        """
        name FixedString(16)
        day UInt32
        time Int64
        state UInt8
        """)

    /// Each state of each finding, by the day on which it changed: see ``FindingRecord``. An environment and an id name a
    /// finding, and its latest state counts. `end_ns` is 0 while it goes on, and `text` is `''` once it is no finding any more.
    static let finding = Table(
        "finding", key: "environment, id", version: "changed", partition: "intDiv(changed, \(StoredDay.length))",
        """
        environment String
        id String
        began Int64
        end_ns Int64
        changed Int64
        text String
        """)

    /// The collectors that computed findings, by the day on which their lease ends. Times are by ClickHouse's clock. Of the leases
    /// that have not ended, the one that began first counts: see ``FindingsLease``.
    static let findingsLease = Table(
        "findings_lease", key: "owner", version: "revision", partition: "intDiv(until, \(StoredDay.length))",
        """
        owner String
        revision UInt64
        since Int64
        until Int64
        """)

    /// Kept spans, by the day on which they started. The kind is `''` for a span that is not a request.
    ///
    /// Inserts have no quorum. If this table were emptied while an insert waited for replicas, ClickHouse 18.16 would refuse
    /// all further inserts into it.
    static let detail = Table(
        "detail", key: "trace_low, trace_high, span, identity, day", partition: "day", hasQuorum: false,
        """
        day UInt32
        trace_low UInt64
        trace_high UInt64
        span UInt64
        identity UInt64
        parent UInt64
        stored Int64
        sender UInt64
        service String
        \(Dimension.ofSenderRow.lines)
        sender_host String
        \(SenderText.state.lines)
        \(Dimension.ofRequest.lines)
        start_ns Int64
        duration Int64
        failed UInt8
        url String
        sent UInt64
        received UInt64
        message String
        name String
        span_kind String
        is_error UInt8
        trace_state String
        attributes String
        events String
        links String
        dropped_attributes UInt32
        dropped_events UInt32
        dropped_links UInt32
        """)
}

enum StoredHour {
    static let length: Int64 = 3_600_000_000_000
}

enum StoredDay {
    static let length: Int64 = 24 * StoredHour.length
}

extension UInt32 {
    /// The number of the hour in which a time ends.
    init(hourOf end: Int64) { self.init(clamping: Swift.max(0, end - 1) / StoredHour.length) }

    /// The number of the day that contains a time.
    init(dayOf time: Int64) { self.init(clamping: Swift.max(0, time) / StoredDay.length) }
}
