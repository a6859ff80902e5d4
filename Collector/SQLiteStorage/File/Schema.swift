import GRDB
import MartletStorage

/// All tables of a store, and the mark of its file.
///
/// A migration never changes once it is on the main branch. A later change to a table is a new migration after it, which GRDB runs
/// once in each store (``OlderStoreTests`` walks the way up).
///
/// Times are nanoseconds since 1970. For an absent value, text columns hold `''` and number columns 0, because SQLite's UNIQUE
/// treats two NULLs as different.
enum Schema {
    /// "MRTL": marks the file as Martlet's (SQLite file format, section 1.3.14).
    static let applicationID: Int64 = 0x4D52_544C

    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("tables of 2026-11-29, with findings, notifications and ends of processes") { db in
            try db.execute(
                sql: StoreID.table + senders + processes + series + chunks + batches + cumulativeSeries + details
                    + observedCalls + notifications + findings)
        }
        migrator.registerMigration("details by endpoint, failures last") { try $0.execute(sql: detailsByEndpoint) }
        migrator.registerMigration("the last hour of senders") { try $0.execute(sql: lastHours) }
        migrator.registerMigration("minutes and hours of versions") { try $0.execute(sql: versions) }
        return migrator
    }

    /// The last hour in which a sender gave a sign, so that reports and expiry find the senders of a time among millions that are
    /// gone. An hour changes seldom, so a batch seldom writes to its index.
    private static let lastHours = """
        -- The hour of its latest batch, point or reading, whichever is the latest, in hours since 1970.
        ALTER TABLE resource ADD COLUMN last_hour INTEGER NOT NULL DEFAULT 0;
        UPDATE resource SET last_hour = max(last_seen, last_end, ifnull(
            (SELECT max(time) FROM ledger WHERE resource_id = resource.id), 0)) / \(Tier.hour.length);
        CREATE INDEX resource_by_hour ON resource (last_hour);

        """

    /// The points of versions of services, and the sums that fold into them from senders.
    ///
    /// Points of senders that were merged into minutes and hours before this migration stay as they are. Maintenance rolls them up
    /// as it does those of spans, in short steps. So the migration takes the same time for a store of any number of points.
    private static let versions = """
        DROP TABLE summary;
        DROP INDEX chunk_unsummarized;
        DELETE FROM expired WHERE tier = -1;
        -- Now 2 means that the points stay with their sender, because some are known only from spans: later metrics may report the
        -- same requests. 0 and, in chunks from before this migration, 1 mean that they do not.
        ALTER TABLE chunk RENAME COLUMN summarized TO spans;
        UPDATE chunk SET spans = 2 WHERE tier IN (0, 1, 2) AND rolled = 0
            AND resource_id IN (SELECT resource_id FROM statistics_cover WHERE source = 'spans');

        CREATE TABLE version (
            id INTEGER PRIMARY KEY,
            service TEXT NOT NULL, version TEXT NOT NULL, environment TEXT NOT NULL,
            -- The latest end of an hour with points, readings or figures, in hours since 1970.
            last_hour INTEGER NOT NULL,
            UNIQUE (service, version, environment)
        ) STRICT;
        CREATE INDEX version_by_hour ON version (last_hour);

        -- The minutes, hours and days of a version: a row for each slot, and another one for late points of a slot that is
        -- rolled up.
        CREATE TABLE version_chunk (
            id INTEGER PRIMARY KEY,
            -- As in chunk. An hour has the points of the minutes with rolled = 2.
            tier INTEGER NOT NULL, rolled INTEGER NOT NULL,
            version_id INTEGER NOT NULL,
            -- The end of the slot.
            end_time INTEGER NOT NULL,
            count INTEGER NOT NULL, damaged INTEGER NOT NULL,
            checksum INTEGER NOT NULL, points BLOB NOT NULL
        ) STRICT;
        CREATE INDEX version_chunk_by_end ON version_chunk (tier, rolled, end_time, version_id);

        -- What is left of the processes of a version, once their readings and figures are old.
        CREATE TABLE version_hour (
            version_id INTEGER NOT NULL, end_time INTEGER NOT NULL,
            -- The processes with a reading whose time lies in the hour or begins before it and ends after it, and those of them
            -- for which this is the first such hour.
            instances INTEGER NOT NULL, new_instances INTEGER NOT NULL,
            arrived REAL NOT NULL, captured REAL NOT NULL,
            -- The times of all processes together, in nanoseconds.
            lived REAL NOT NULL, unwatched REAL NOT NULL,
            -- The processes with figures, those for which this is the first hour, and those that started in it.
            processes INTEGER NOT NULL, new_processes INTEGER NOT NULL, started INTEGER NOT NULL,
            -- The start of the first and the end of the last interval with figures; 0 if there are none.
            from_time INTEGER NOT NULL, to_time INTEGER NOT NULL,
            -- All figures; and each level and rate times the nanoseconds that its process lived in the hour, as JSON.
            figures BLOB NOT NULL, levels TEXT NOT NULL,
            PRIMARY KEY (version_id, end_time)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX version_hour_by_end ON version_hour (end_time);

        -- The time of a process without capture in an hour of its version. The number is that of the process's row, which is gone.
        CREATE TABLE version_gap (
            version_id INTEGER NOT NULL, end_time INTEGER NOT NULL, process INTEGER NOT NULL, unwatched REAL NOT NULL,
            PRIMARY KEY (version_id, end_time, process)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX version_gap_by_end ON version_gap (end_time);

        CREATE TABLE version_runtime (
            version_id INTEGER NOT NULL REFERENCES version(id) ON DELETE CASCADE, runtime TEXT NOT NULL, first_end INTEGER NOT NULL, last_end INTEGER NOT NULL,
            PRIMARY KEY (version_id, runtime)
        ) STRICT, WITHOUT ROWID;

        -- Up to where the readings of a process were folded: the last one's time and figures; 0 if none was.
        ALTER TABLE resource ADD COLUMN folded_time INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE resource ADD COLUMN folded_captured INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE resource ADD COLUMN folded_unwatched INTEGER NOT NULL DEFAULT 0;
        -- The same for its figures: the end of the last hour.
        ALTER TABLE resource ADD COLUMN folded_figures INTEGER NOT NULL DEFAULT 0;

        -- The same of processes that are gone, because batches of them may still come.
        CREATE TABLE departed (
            -- The hash of the process's identity.
            id INTEGER PRIMARY KEY,
            folded_time INTEGER NOT NULL, folded_captured INTEGER NOT NULL, folded_unwatched INTEGER NOT NULL,
            folded_figures INTEGER NOT NULL, forgotten_until INTEGER NOT NULL,
            -- By the collector's clock.
            time INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX departed_by_time ON departed (time);

        """

    /// Senders, and the accounts and times that they reported.
    private static let senders = """
        CREATE TABLE resource (
            id INTEGER PRIMARY KEY,
            service TEXT NOT NULL, version TEXT NOT NULL, environment TEXT NOT NULL,
            instance TEXT NOT NULL, host TEXT NOT NULL,
            -- Texts that may change while a process lives, so they are no part of its identity.
            capture_mode TEXT NOT NULL, capture_reason TEXT NOT NULL, agent TEXT NOT NULL, runtime TEXT NOT NULL,
            -- Rules in force that change requests, also no part of it.
            rules INTEGER NOT NULL,
            -- The first and the latest batch, by the collector's clock.
            first_seen INTEGER NOT NULL, last_seen INTEGER NOT NULL,
            -- The latest end of a point, by the sender's clock: decides whether the sender has points left.
            last_end INTEGER NOT NULL,
            -- The latest end among processes whose rows in cumulative_series were deleted, by the sender's clock.
            forgotten_until INTEGER NOT NULL DEFAULT 0,
            UNIQUE (service, version, environment, instance, host)
        ) STRICT;
        -- A service may have had thousands of instances, and the spans of one are compared with its metrics.
        CREATE INDEX resource_by_instance ON resource (service, instance);

        CREATE TABLE ledger (
            resource_id INTEGER NOT NULL REFERENCES resource(id),
            -- The sender's clock.
            time INTEGER NOT NULL,
            -- Requests since the instance's start.
            captured INTEGER NOT NULL, delivered INTEGER NOT NULL, waiting INTEGER NOT NULL,
            -- A JSON object of requests by reason; '' for none.
            dropped TEXT NOT NULL,
            -- Requests in the batch that brought this reading.
            requests INTEGER NOT NULL,
            -- Nanoseconds since the instance's start: the whole time, the time without capture, and the agent's CPU time.
            age INTEGER NOT NULL, unwatched INTEGER NOT NULL, cpu INTEGER NOT NULL,
            PRIMARY KEY (resource_id, time)
        ) STRICT, WITHOUT ROWID;
        -- The latest account of a sender is the one with the most captured requests: see LedgerRows.latest.
        CREATE INDEX ledger_by_captured ON ledger (resource_id, captured);

        -- The times for which a sender reported a kind of requests to a system, for each source: metrics, spans, or 'unanswered'
        -- for calls without a status in metrics.
        CREATE TABLE statistics_cover (
            resource_id INTEGER NOT NULL REFERENCES resource(id) ON DELETE CASCADE,
            kind TEXT NOT NULL, system TEXT NOT NULL, source TEXT NOT NULL,
            -- The sender's clock.
            from_time INTEGER NOT NULL, to_time INTEGER NOT NULL,
            PRIMARY KEY (resource_id, kind, system, source, from_time)
        ) STRICT, WITHOUT ROWID;

        -- The hours, in hours since 1970, in which points of a sender's cumulative streams found no room: the earliest and the
        -- latest end of such a point, by the sender's clock.
        CREATE TABLE uncounted (
            hour INTEGER NOT NULL,
            resource_id INTEGER NOT NULL REFERENCES resource(id) ON DELETE CASCADE,
            from_time INTEGER NOT NULL, to_time INTEGER NOT NULL,
            PRIMARY KEY (hour, resource_id)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX uncounted_by_resource ON uncounted (resource_id);

        """

    /// The figures of senders' processes.
    private static let processes = """
        CREATE TABLE process_slot (
            resource_id INTEGER NOT NULL REFERENCES resource(id) ON DELETE CASCADE,
            -- As in chunk; each figure is in a slot of each tier.
            tier INTEGER NOT NULL,
            -- The end of the slot, the start of the first interval in it and the end of the last one, by the sender's clock.
            end_time INTEGER NOT NULL, from_time INTEGER NOT NULL, to_time INTEGER NOT NULL,
            figures BLOB NOT NULL,
            PRIMARY KEY (resource_id, tier, end_time)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX process_slot_by_end ON process_slot (tier, end_time);

        -- The latest totals of senders of cumulative counters.
        CREATE TABLE process_total (
            resource_id INTEGER NOT NULL REFERENCES resource(id) ON DELETE CASCADE,
            counter INTEGER NOT NULL,
            -- The time that the process counts from, by its clock; 0 if it does not tell that time.
            start_time INTEGER NOT NULL,
            end_time INTEGER NOT NULL, value INTEGER NOT NULL,
            PRIMARY KEY (resource_id, counter, start_time)
        ) STRICT, WITHOUT ROWID;

        -- The ends of processes, as the next process of the service reported them.
        CREATE TABLE process_end (
            id INTEGER PRIMARY KEY,
            service TEXT NOT NULL, environment TEXT NOT NULL,
            -- The process that ended, and the instance that reported it.
            version TEXT NOT NULL, instance TEXT NOT NULL, reporter TEXT NOT NULL,
            -- Its last sign of life, by the clock of its host.
            time INTEGER NOT NULL,
            cause TEXT NOT NULL, signal TEXT NOT NULL,
            function TEXT NOT NULL, file TEXT NOT NULL, line INTEGER NOT NULL,
            -- What most of its requests in flight were.
            endpoint TEXT NOT NULL,
            UNIQUE (service, environment, instance, time)
        ) STRICT;
        CREATE INDEX process_end_by_time ON process_end (time);
        -- The oldest ends of a service are deleted if it has too many.
        CREATE INDEX process_end_by_service ON process_end (service, time);

        """

    /// The series that points belong to. All processes of a service share them.
    private static let series = """
        CREATE TABLE series (
            -- AUTOINCREMENT gives no number twice, so that a reader may remember a series: see SeriesMemory.
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            service TEXT NOT NULL,
            kind TEXT NOT NULL, system TEXT NOT NULL, method TEXT NOT NULL, host TEXT NOT NULL, port INTEGER NOT NULL,
            endpoint TEXT NOT NULL, status INTEGER NOT NULL, error TEXT NOT NULL, rule TEXT NOT NULL,
            -- The latest day on which a point ended, in days since 1970.
            day INTEGER NOT NULL,
            UNIQUE (service, kind, system, method, host, port, endpoint, status, error, rule)
        ) STRICT;
        CREATE INDEX series_by_day ON series (day);
        -- The series of a service that count against its budget: see SeriesIndex.
        CREATE INDEX series_by_service ON series (service, day);
        -- The latest series of a service, which a reader asks for with each report.
        CREATE INDEX series_by_number ON series (service, id);

        """

    /// The points, and the times that retention has reached.
    private static let chunks = """
        CREATE TABLE chunk (
            id INTEGER PRIMARY KEY,
            -- 0: points as senders deliver them, 1: points of a minute, 2: points of an hour.
            tier INTEGER NOT NULL,
            -- 1 if the tier above has the points as well; 1 if the points were merged from the tier below.
            rolled INTEGER NOT NULL, derived INTEGER NOT NULL,
            -- The row of the sender. A declared reference would make SQLite search all chunks when a sender is deleted.
            resource_id INTEGER NOT NULL,
            -- The end of the points' intervals, by the sender's clock. The word `end` is a keyword of SQL.
            end_time INTEGER NOT NULL,
            -- The number of its points, and the number of points of its sources that could not be read.
            count INTEGER NOT NULL, damaged INTEGER NOT NULL,
            -- The points as a sender without batch numbers sent them, each as the 8 bytes of its identity: see ArrivedPoints.
            arrived BLOB NOT NULL DEFAULT x'',
            checksum INTEGER NOT NULL, points BLOB NOT NULL,
            -- Of minutes: 0 until summaries of their time are made, 1 if one has the points as well, 2 if the chunk is left out
            -- because it has requests that are known from spans.
            summarized INTEGER NOT NULL DEFAULT 0
        ) STRICT;
        CREATE INDEX chunk_by_end ON chunk (tier, rolled, end_time, resource_id);
        CREATE INDEX chunk_unsummarized ON chunk (summarized, end_time, rolled, resource_id)
            WHERE tier = 1 AND summarized != 1;

        -- The chunks of minutes of a slot once more, by endpoint and outcome: see SummaryBuilder.
        CREATE TABLE summary (
            id INTEGER PRIMARY KEY,
            -- One of the senders of the points. They have its service, version and environment.
            resource_id INTEGER NOT NULL,
            end_time INTEGER NOT NULL,
            count INTEGER NOT NULL, damaged INTEGER NOT NULL,
            -- Of the series with the same name and outcome, the points have the first.
            checksum INTEGER NOT NULL, points BLOB NOT NULL
        ) STRICT;
        CREATE INDEX summary_by_end ON summary (end_time, resource_id);

        -- The time up to which each tier's rolled chunks have been deleted, or may be at any moment; -1 is for summaries.
        CREATE TABLE expired (tier INTEGER PRIMARY KEY, time INTEGER NOT NULL) STRICT;
        -- The latest time by the collector's clock at which the clock was believed.
        CREATE TABLE retention_clock (id INTEGER PRIMARY KEY CHECK (id = 1), time INTEGER NOT NULL) STRICT;

        """

    /// The batches that have arrived: a stream for each instance and signal, a bit for each sequence, and the parts of incomplete
    /// batches. One row for each batch would be half a million rows for an instance in 30 days.
    private static let batches = """
        CREATE TABLE batch_stream (
            id INTEGER PRIMARY KEY,
            instance TEXT NOT NULL, signal TEXT NOT NULL,
            -- The latest sequence of which a part arrived, and the number of sequences that arrived whole.
            highest INTEGER NOT NULL, arrived INTEGER NOT NULL,
            -- Batches that arrived after some of their intervals had.
            overlapping INTEGER NOT NULL,
            -- The latest arrival, by the collector's clock.
            received INTEGER NOT NULL,
            UNIQUE (instance, signal)
        ) STRICT;

        CREATE TABLE batch_block (
            stream_id INTEGER NOT NULL REFERENCES batch_stream(id) ON DELETE CASCADE,
            -- The sequence divided by 4096.
            block INTEGER NOT NULL, received INTEGER NOT NULL,
            -- A bit for each sequence that arrived whole; no bytes if all 4096 did.
            bits BLOB NOT NULL,
            PRIMARY KEY (stream_id, block)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE batch_part (
            stream_id INTEGER NOT NULL REFERENCES batch_stream(id) ON DELETE CASCADE,
            first INTEGER NOT NULL, sequence INTEGER NOT NULL, part TEXT NOT NULL, received INTEGER NOT NULL,
            PRIMARY KEY (stream_id, first, sequence, part)
        ) STRICT, WITHOUT ROWID;

        """

    /// The latest point of each writer of each cumulative stream.
    private static let cumulativeSeries = """
        CREATE TABLE cumulative_series (
            id INTEGER PRIMARY KEY,
            resource_id INTEGER NOT NULL REFERENCES resource(id) ON DELETE CASCADE,
            -- The time that the process counts from, by its clock; 0 if it does not tell that time.
            start_time INTEGER NOT NULL,
            stream BLOB NOT NULL,
            -- The writer's number; 0 unless several processes write the stream: see StreamWriters.
            writer INTEGER NOT NULL,
            -- 1 if the first point of a writer counts from the start.
            counts_writers INTEGER NOT NULL,
            -- 1 if several processes are known to share the stream.
            shared INTEGER NOT NULL,
            -- The end of the latest point.
            end_time INTEGER NOT NULL,
            -- The end of the last point that ended earlier, at most `end_time`; 0 if there is none.
            before_time INTEGER NOT NULL DEFAULT 0,
            -- Figures since the start.
            bytes_sent INTEGER NOT NULL, bytes_received INTEGER NOT NULL, sketch BLOB NOT NULL,
            -- The length of the sketch's unit, in seconds.
            unit REAL NOT NULL,
            -- The arrival of the latest point, by the collector's clock.
            received INTEGER NOT NULL,
            UNIQUE (resource_id, start_time, stream, writer)
        ) STRICT;
        CREATE INDEX cumulative_shared ON cumulative_series (shared, resource_id) WHERE shared = 1;

        """

    /// Kept spans. The kind is `''` for a span that is not a request.
    private static let details = """
        CREATE TABLE detail (
            -- AUTOINCREMENT lets ids only grow, so the oldest rows are those with the smallest ids.
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            -- The collector's clock.
            received INTEGER NOT NULL,
            resource_id INTEGER NOT NULL REFERENCES resource(id),
            -- The sender's, so that the oldest rows of a service are found.
            service TEXT NOT NULL,
            kind TEXT NOT NULL, system TEXT NOT NULL, method TEXT NOT NULL, host TEXT NOT NULL, port INTEGER NOT NULL,
            endpoint TEXT NOT NULL, status INTEGER NOT NULL, error TEXT NOT NULL, rule TEXT NOT NULL,
            trace_id BLOB NOT NULL, span_id BLOB NOT NULL, parent_span_id BLOB NOT NULL,
            start_time INTEGER NOT NULL, duration INTEGER NOT NULL,
            -- 1 for a request that counts as failed.
            failed INTEGER NOT NULL,
            url TEXT NOT NULL, bytes_sent INTEGER NOT NULL, bytes_received INTEGER NOT NULL,
            message TEXT NOT NULL,
            name TEXT NOT NULL, span_kind TEXT NOT NULL, is_error INTEGER NOT NULL, trace_state TEXT NOT NULL,
            -- JSON.
            attributes TEXT NOT NULL, events TEXT NOT NULL, links TEXT NOT NULL,
            -- Numbers that a limit of the sender or the collector dropped.
            dropped_attributes INTEGER NOT NULL, dropped_events INTEGER NOT NULL, dropped_links INTEGER NOT NULL,
            -- Roughly the room that the row and its places in the indices take.
            bytes INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX detail_by_received ON detail (received);
        -- A trace may have thousands of spans, and each new span is looked up among them.
        CREATE INDEX detail_by_trace ON detail (trace_id, span_id);
        -- A sender is deleted once it has no spans; SQLite itself searches for them too, because they refer to the sender.
        CREATE INDEX detail_by_resource ON detail (resource_id);
        CREATE INDEX detail_by_service ON detail (service);
        -- The two orders of the list of requests.
        CREATE INDEX detail_by_start ON detail (start_time) WHERE kind != '';
        CREATE INDEX detail_by_duration ON detail (duration) WHERE kind != '';

        -- The rows of each service and their bytes: adding them up would take longer than storing a batch.
        CREATE TABLE detail_share (
            service TEXT PRIMARY KEY, count INTEGER NOT NULL, bytes INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE TRIGGER detail_added AFTER INSERT ON detail BEGIN
            INSERT INTO detail_share VALUES (NEW.service, 1, NEW.bytes)
                ON CONFLICT (service) DO UPDATE SET count = count + 1, bytes = bytes + NEW.bytes;
        END;
        CREATE TRIGGER detail_deleted AFTER DELETE ON detail BEGIN
            UPDATE detail_share SET count = count - 1, bytes = bytes - OLD.bytes WHERE service = OLD.service;
            DELETE FROM detail_share WHERE service = OLD.service AND count = 0;
        END;

        """

    /// Kept spans know the endpoint whose room they take, and whether a request of their trace failed or was slow.
    private static let detailsByEndpoint = """
        ALTER TABLE detail ADD COLUMN owner TEXT NOT NULL DEFAULT '';
        ALTER TABLE detail ADD COLUMN notable INTEGER NOT NULL DEFAULT 0;
        UPDATE detail SET notable = failed WHERE failed = 1;
        DROP INDEX detail_by_service;
        CREATE INDEX detail_by_owner ON detail (service, owner, notable);
        CREATE INDEX detail_by_age ON detail (notable);
        CREATE INDEX detail_notable ON detail (trace_id) WHERE notable = 1;

        -- The rows of each endpoint and their bytes, like those of its service.
        CREATE TABLE endpoint_share (
            service TEXT NOT NULL, owner TEXT NOT NULL, notable INTEGER NOT NULL,
            count INTEGER NOT NULL, bytes INTEGER NOT NULL,
            PRIMARY KEY (service, owner, notable)
        ) STRICT, WITHOUT ROWID;
        INSERT INTO endpoint_share SELECT service, owner, notable, count(*), sum(bytes) FROM detail GROUP BY 1, 2, 3;
        CREATE TRIGGER endpoint_detail_added AFTER INSERT ON detail BEGIN
            INSERT INTO endpoint_share VALUES (NEW.service, NEW.owner, NEW.notable, 1, NEW.bytes)
                ON CONFLICT DO UPDATE SET count = count + 1, bytes = bytes + NEW.bytes;
        END;
        CREATE TRIGGER endpoint_detail_deleted AFTER DELETE ON detail BEGIN
            UPDATE endpoint_share SET count = count - 1, bytes = bytes - OLD.bytes
                WHERE service = OLD.service AND owner = OLD.owner AND notable = OLD.notable;
            DELETE FROM endpoint_share
                WHERE service = OLD.service AND owner = OLD.owner AND notable = OLD.notable AND count = 0;
        END;
        CREATE TRIGGER endpoint_detail_changed AFTER UPDATE OF notable ON detail WHEN OLD.notable != NEW.notable BEGIN
            UPDATE endpoint_share SET count = count - 1, bytes = bytes - OLD.bytes
                WHERE service = OLD.service AND owner = OLD.owner AND notable = OLD.notable;
            DELETE FROM endpoint_share
                WHERE service = OLD.service AND owner = OLD.owner AND notable = OLD.notable AND count = 0;
            INSERT INTO endpoint_share VALUES (NEW.service, NEW.owner, NEW.notable, 1, NEW.bytes)
                ON CONFLICT DO UPDATE SET count = count + 1, bytes = bytes + NEW.bytes;
        END;

        """

    /// Calls between services that spans showed. They remain when the spans are deleted.
    private static let observedCalls = """
        CREATE TABLE observed_call (
            id INTEGER PRIMARY KEY,
            -- The callee, and the host that it was reached as.
            service TEXT NOT NULL, environment TEXT NOT NULL, served_host TEXT NOT NULL,
            caller TEXT NOT NULL, called_host TEXT NOT NULL,
            -- The first and the latest start of a span of the callee, by its clock, but not after the span's arrival.
            first_time INTEGER NOT NULL, last_time INTEGER NOT NULL,
            UNIQUE (service, environment, served_host, caller, called_host)
        ) STRICT;
        CREATE INDEX observed_call_by_time ON observed_call (last_time);

        """

    /// What receivers of notifications have acknowledged: see ``NotificationRows``.
    private static let notifications = """
        CREATE TABLE notification (
            -- See NotificationKey.
            name BLOB PRIMARY KEY,
            -- See NotifiedState.
            state INTEGER NOT NULL,
            -- The collector's clock.
            time INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX notification_by_time ON notification (time);

        """

    /// What happened: see ``FindingRecord``.
    private static let findings = """
        CREATE TABLE finding (
            id INTEGER PRIMARY KEY,
            environment TEXT NOT NULL, name TEXT NOT NULL,
            began INTEGER NOT NULL,
            -- 0 while it goes on.
            end_time INTEGER NOT NULL,
            -- The collector's clock.
            changed INTEGER NOT NULL,
            -- JSON.
            text TEXT NOT NULL,
            UNIQUE (environment, name)
        ) STRICT;
        CREATE INDEX finding_by_begin ON finding (environment, began);
        CREATE INDEX finding_by_change ON finding (changed);

        """
}

/// The row of the store's identity, created with the tables: see ``Storage/id``.
enum StoreID {
    /// 128 random bits.
    private static let random = "lower(hex(randomblob(16)))"

    static let table = """
        CREATE TABLE store (id TEXT NOT NULL) STRICT;
        INSERT INTO store VALUES (\(random));

        """

    static func read(in db: Database) throws -> String { try String.fetchOne(db, sql: "SELECT id FROM store") ?? "" }

    /// Gives a copy a new identity, because from now on it receives different batches from the original store.
    static func renew(in db: Database) throws { try db.execute(sql: "UPDATE store SET id = \(random)") }
}
