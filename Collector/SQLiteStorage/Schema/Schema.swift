import GRDB

/// The tables, as named migrations. A released migration is never changed; a new one is added after it.
///
/// Text columns hold `''` and number columns 0 if a value is absent: SQLite's UNIQUE takes two NULLs for different.
enum Schema {
    /// "MRTL": marks the file as Martlet's (SQLite file format, section 1.3.14).
    static let applicationID: Int64 = 0x4D52_544C

    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1 resources, points, batches, ledgers, details") { db in
            try db.execute(sql: resources + points + batches + ledgers + details)
        }
        migrator.registerMigration("2 phases, capture reason") { try $0.execute(sql: phases + captureReason) }
        migrator.registerMigration("3 spans") { try $0.execute(sql: spans) }
        migrator.registerMigration("4 batches by streams") { db in
            try db.execute(sql: batchStreams)
            try BatchRows.take(over: "batch", in: db)
            try db.execute(sql: "DROP TABLE batch")
        }
        migrator.registerMigration("5 cumulative series") { db in
            try db.execute(sql: CumulativeRows.schema + StatisticsCover.schema)
        }
        migrator.registerMigration("6 chunks, series of services") { db in
            try db.execute(sql: seriesOfServices + chunks + lastEnd)
            try PointMigration.run(in: db)
            try db.execute(sql: "DROP TABLE point; DROP TABLE series_of_resource;")
        }
        migrator.registerMigration("7 units of cumulative series, forgotten ones") { db in
            try db.execute(sql: CumulativeRows.units + CumulativeRows.forgotten)
        }
        migrator.registerMigration("8 spans of one trace, resources of one instance") { db in
            try db.execute(sql: spanIndex + instanceIndex)
        }
        // No table changes. The migration makes earlier versions refuse the store, because they would take the new sketches
        // for damaged.
        migrator.registerMigration("9 rolled up sketches as tokens") { _ in }
        migrator.registerMigration("10 spans of one resource") { try $0.execute(sql: resourceSpanIndex) }
        migrator.registerMigration("11 ends before the last of cumulative series") { db in
            try db.execute(sql: CumulativeRows.before)
        }
        migrator.registerMigration("12 time without capture") { try $0.execute(sql: watch) }
        return migrator
    }

    private static let resources = """
        CREATE TABLE resource (
            id INTEGER PRIMARY KEY,
            service TEXT NOT NULL, version TEXT NOT NULL, environment TEXT NOT NULL,
            instance TEXT NOT NULL, host TEXT NOT NULL,
            -- May change while a process lives, so they are no part of its identity.
            capture_mode TEXT NOT NULL, agent TEXT NOT NULL,
            -- Nanoseconds since 1970, the collector's clock.
            first_seen INTEGER NOT NULL, last_seen INTEGER NOT NULL,
            UNIQUE (service, version, environment, instance, host)
        ) STRICT;

        """

    private static let points = """
        CREATE TABLE series (
            id INTEGER PRIMARY KEY,
            resource_id INTEGER NOT NULL REFERENCES resource(id),
            kind TEXT NOT NULL, method TEXT NOT NULL, host TEXT NOT NULL, port INTEGER NOT NULL,
            endpoint TEXT NOT NULL, status INTEGER NOT NULL, error TEXT NOT NULL,
            UNIQUE (resource_id, kind, method, host, port, endpoint, status, error)
        ) STRICT;

        CREATE TABLE point (
            -- The sender's clock, nanoseconds since 1970. Called as in SQL, `end` is a keyword.
            start_time INTEGER NOT NULL, end_time INTEGER NOT NULL,
            series_id INTEGER NOT NULL REFERENCES series(id),
            -- The count is in the sketch as well, and has to agree with it.
            count INTEGER NOT NULL, bytes_sent INTEGER NOT NULL, bytes_received INTEGER NOT NULL,
            sketch BLOB NOT NULL
        ) STRICT;
        CREATE INDEX point_by_end ON point (end_time);

        """

    private static let batches = """
        CREATE TABLE batch (
            instance TEXT NOT NULL, signal TEXT NOT NULL, sequence INTEGER NOT NULL,
            received INTEGER NOT NULL,
            PRIMARY KEY (instance, signal, sequence)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX batch_by_received ON batch (received);

        """

    private static let ledgers = """
        CREATE TABLE ledger (
            resource_id INTEGER NOT NULL REFERENCES resource(id),
            time INTEGER NOT NULL,
            captured INTEGER NOT NULL, delivered INTEGER NOT NULL, waiting INTEGER NOT NULL,
            -- JSON: reason to requests.
            dropped TEXT NOT NULL,
            -- In the batch that brought this reading.
            requests INTEGER NOT NULL,
            PRIMARY KEY (resource_id, time)
        ) STRICT, WITHOUT ROWID;

        """

    private static let details = """
        CREATE TABLE detail (
            -- AUTOINCREMENT: ids only grow, so that the oldest rows are those with the smallest.
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            received INTEGER NOT NULL,
            resource_id INTEGER NOT NULL REFERENCES resource(id),
            kind TEXT NOT NULL, method TEXT NOT NULL, host TEXT NOT NULL, port INTEGER NOT NULL,
            endpoint TEXT NOT NULL, status INTEGER NOT NULL, error TEXT NOT NULL,
            trace_id BLOB NOT NULL, span_id BLOB NOT NULL, parent_span_id BLOB NOT NULL,
            start_time INTEGER NOT NULL, duration INTEGER NOT NULL,
            url TEXT NOT NULL, bytes_sent INTEGER NOT NULL, bytes_received INTEGER NOT NULL,
            message TEXT NOT NULL
        ) STRICT;
        CREATE INDEX detail_by_received ON detail (received);
        """

    /// Points of earlier versions have no phases.
    private static let phases = """
        ALTER TABLE point ADD COLUMN phases BLOB NOT NULL DEFAULT x'';

        """

    private static let captureReason = """
        ALTER TABLE resource ADD COLUMN capture_reason TEXT NOT NULL DEFAULT '';
        """

    /// Details are spans, including those that are no requests, whose kind is `''`. Earlier versions kept only requests, and
    /// a client's kind of span is its kind of request.
    private static let spans = """
        ALTER TABLE detail ADD COLUMN name TEXT NOT NULL DEFAULT '';
        ALTER TABLE detail ADD COLUMN span_kind TEXT NOT NULL DEFAULT '';
        ALTER TABLE detail ADD COLUMN is_error INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE detail ADD COLUMN trace_state TEXT NOT NULL DEFAULT '';
        -- JSON.
        ALTER TABLE detail ADD COLUMN attributes TEXT NOT NULL DEFAULT '';
        ALTER TABLE detail ADD COLUMN events TEXT NOT NULL DEFAULT '';
        ALTER TABLE detail ADD COLUMN links TEXT NOT NULL DEFAULT '';
        -- By a limit of the sender's or the collector's.
        ALTER TABLE detail ADD COLUMN dropped_attributes INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE detail ADD COLUMN dropped_events INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE detail ADD COLUMN dropped_links INTEGER NOT NULL DEFAULT 0;
        UPDATE detail SET span_kind = kind, name = method || ' ' || endpoint, is_error = error != '';
        CREATE INDEX detail_by_trace ON detail (trace_id);
        """

    /// A trace may have thousands of spans, and each new span is looked up among them.
    private static let spanIndex = """
        DROP INDEX detail_by_trace;
        CREATE INDEX detail_by_trace ON detail (trace_id, span_id);

        """

    /// A sender is deleted once it has no spans left. SQLite searches for them as well, because they refer to the sender.
    private static let resourceSpanIndex = """
        CREATE INDEX detail_by_resource ON detail (resource_id);

        """

    /// A service may have had thousands of instances; see ``StatisticsCover/Overlaps``.
    private static let instanceIndex = """
        CREATE INDEX resource_by_instance ON resource (service, instance);

        """

    /// Replaces a row for each batch: an instance makes half a million batches in 30 days.
    private static let batchStreams = """
        CREATE TABLE batch_stream (
            id INTEGER PRIMARY KEY,
            instance TEXT NOT NULL, signal TEXT NOT NULL,
            -- Sequences: the latest of which anything arrived, and how many arrived whole.
            highest INTEGER NOT NULL, arrived INTEGER NOT NULL,
            -- Batches of which a share had arrived before.
            overlapping INTEGER NOT NULL,
            -- The latest batch, the collector's clock.
            received INTEGER NOT NULL,
            UNIQUE (instance, signal)
        ) STRICT;

        CREATE TABLE batch_block (
            stream_id INTEGER NOT NULL REFERENCES batch_stream(id) ON DELETE CASCADE,
            -- The sequence divided by 4096, and a bit for each that arrived whole; no bytes where all did.
            block INTEGER NOT NULL, received INTEGER NOT NULL, bits BLOB NOT NULL,
            PRIMARY KEY (stream_id, block)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE batch_part (
            stream_id INTEGER NOT NULL REFERENCES batch_stream(id) ON DELETE CASCADE,
            first INTEGER NOT NULL, sequence INTEGER NOT NULL, part TEXT NOT NULL, received INTEGER NOT NULL,
            PRIMARY KEY (stream_id, first, sequence, part)
        ) STRICT, WITHOUT ROWID;

        """

    /// Processes of a service share its series.
    private static let seriesOfServices = """
        ALTER TABLE series RENAME TO series_of_resource;
        CREATE TABLE series (
            id INTEGER PRIMARY KEY,
            service TEXT NOT NULL,
            kind TEXT NOT NULL, method TEXT NOT NULL, host TEXT NOT NULL, port INTEGER NOT NULL,
            endpoint TEXT NOT NULL, status INTEGER NOT NULL, error TEXT NOT NULL,
            -- The latest that a point ended in, in days since 1970.
            day INTEGER NOT NULL,
            UNIQUE (service, kind, method, host, port, endpoint, status, error)
        ) STRICT;
        CREATE INDEX series_by_day ON series (day);

        """

    /// Accounts of earlier versions have no time without capture.
    private static let watch = """
        -- Nanoseconds since the instance's start: all of them, and those without capture.
        ALTER TABLE ledger ADD COLUMN age INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE ledger ADD COLUMN unwatched INTEGER NOT NULL DEFAULT 0;

        """

    /// Shows which senders have no points any more, even if their clocks are wrong.
    private static let lastEnd = """
        -- The latest that a point ended in, the sender's clock.
        ALTER TABLE resource ADD COLUMN last_end INTEGER NOT NULL DEFAULT 0;
        UPDATE resource SET last_end = last_seen;

        """

    private static let chunks = """
        CREATE TABLE chunk (
            id INTEGER PRIMARY KEY,
            -- 0: as agents deliver, 1: a minute, 2: an hour.
            tier INTEGER NOT NULL,
            -- Whether its points are in the tier above as well, and whether they are from the one below.
            rolled INTEGER NOT NULL, derived INTEGER NOT NULL,
            -- No reference: it would have to be looked for in all chunks before a sender is deleted.
            resource_id INTEGER NOT NULL,
            -- The sender's clock, nanoseconds since 1970. Called as in SQL, `end` is a keyword.
            end_time INTEGER NOT NULL,
            -- Points that are in it, and those that its sources had and that could not be read.
            count INTEGER NOT NULL, damaged INTEGER NOT NULL,
            checksum INTEGER NOT NULL, points BLOB NOT NULL
        ) STRICT;
        CREATE INDEX chunk_by_end ON chunk (tier, rolled, end_time, resource_id);

        CREATE TABLE expired (tier INTEGER PRIMARY KEY, time INTEGER NOT NULL) STRICT;

        """
}
