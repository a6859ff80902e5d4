import MartletStorage

/// Runs statements on the tables of a store.
struct ClickHouseClient: Sendable {
    let connection: ClickHouseConnection
    let layout: TableLayout
    /// Whether the server knows the settings of 2021 and later.
    let isModern: Bool
    /// The settings that differ between versions: see ``init(_:_:cluster:timeout:)``.
    private let settings: [(String, String)]

    /// Statements may contain long lists of values.
    private static let common = [
        ("max_query_size", "67108864"), ("max_ast_elements", "2000000"), ("max_expanded_ast_elements", "2000000"),
    ]
    /// How long an insert waits for other inserts to reach their replicas.
    private static let patience = Duration.seconds(10)

    /// Asks the server for its version and for the layout of the tables. Only this code and ``Schema/durability(isModern:)``
    /// depend on the version.
    ///
    /// - Parameters:
    ///   - cluster: the cluster on which to create missing tables; `nil` for one server.
    ///   - timeout: the time limit of a request, in seconds.
    init(
        _ location: ClickHouseLocation, _ credentials: ClickHouseCredentials, cluster: String? = nil, timeout: Double
    ) async throws {
        connection = ClickHouseConnection(location, credentials, timeout: timeout)
        let version = try await Self.text("version()", "", connection) ?? ""
        isModern = Int(version.prefix { $0 != "." }) ?? 0 >= 21
        let engine = try await Self.text(
            "engine_full", "FROM system.tables WHERE database = '\(location.database)' AND name = 'migration'",
            connection)
        let known = engine.map { TableLayout(database: location.database, engine: $0) }
        layout =
            try known
            ?? TableLayout(database: location.database, cluster: cluster.map(ClickHouseLocation.checkedCluster))
        guard cluster == nil || layout.cluster == cluster else {
            throw StorageFailure(
                "\(location) has tables that do not lie on the cluster \(cluster ?? ""): name another database")
        }
        // Otherwise a modern server may answer before the rows are stored, and refuses batches that span many weeks.
        var settings =
            Self.common + (isModern ? [("async_insert", "0"), ("max_partitions_per_insert_block", "0")] : [])
        if let cluster = layout.cluster {
            let replicas = try await Self.replicas(of: cluster, connection)
            settings += TableLayout.settings(replicas: replicas)
        }
        self.settings = settings
    }

    func run(_ sql: String, isInDatabase: Bool = true) async throws {
        try await behindOtherInserts {
            _ = try await connection.run(sql, isInDatabase: isInDatabase, settings: settings)
        }
    }

    /// Runs a SELECT and returns its rows.
    ///
    /// - Parameters:
    ///   - source: the statement from FROM on.
    ///   - isInDatabase: `false` if the database may be missing.
    func rows<Row>(
        _ columns: Selection, _ source: String, distinct: Bool = false, isInDatabase: Bool = true,
        _ decode: (inout RowReader) throws -> Row
    ) async throws -> [Row] {
        let select = "SELECT \(distinct ? "DISTINCT " : "")\(columns.list) \(source)"
        let answer = try await connection.read(
            select + Self.format, isInDatabase: isInDatabase, settings: settings)
        return try Self.rows(columns, in: answer, decode)
    }

    /// Returns a number from each row of a SELECT.
    func numbers<Number: FixedWidthInteger>(
        _ expression: String, _ source: String, isInDatabase: Bool = true
    ) async throws -> [Number] {
        try await rows(["value": expression], source, isInDatabase: isInDatabase) { try $0.number("value") }
    }

    /// Returns the number in the first row.
    func number<Number: FixedWidthInteger>(_ expression: String, _ source: String) async throws -> Number? {
        let numbers: [Number] = try await numbers(expression, source)
        return numbers.first
    }

    /// Returns the number of rows that a SELECT finds.
    func count(_ source: String) async throws -> Int {
        let count: UInt64? = try await number("count()", source)
        return Int(clamping: count ?? 0)
    }

    /// Returns a text from each row of a SELECT.
    func texts(_ expression: String, _ source: String, distinct: Bool = false) async throws -> [String] {
        try await rows(["value": expression], source, distinct: distinct) { try $0.text("value") }
    }

    /// Returns a text from the first row of a SELECT. The database need not exist yet.
    private static func text(
        _ expression: String, _ source: String, _ connection: ClickHouseConnection
    ) async throws -> String? {
        let columns: Selection = ["value": expression]
        let select = "SELECT \(columns.list) \(source)"
        let answer = try await connection.run(select + format, isInDatabase: false, settings: [])
        return try rows(columns, in: answer) { try $0.text("value") }.first
    }

    private static let format = " FORMAT Native"

    private static func rows<Row>(
        _ columns: Selection, in answer: [UInt8], _ decode: (inout RowReader) throws -> Row
    ) throws -> [Row] {
        var reader = RowReader(answer, columns)
        var rows: [Row] = []
        while try reader.next() { rows.append(try decode(&reader)) }
        return rows
    }

    /// Inserts rows with one statement. All rows of one partition (in a cluster, of one partition and shard) become visible at
    /// once.
    func insert(_ rows: TableRows) async throws {
        guard rows.count > 0 else { return }
        let sql = "INSERT INTO \(rows.table.name) (\(rows.table.columnList)) FORMAT RowBinary"
        let settings = settings.filter { rows.table.hasQuorum || $0.0 != TableLayout.quorum }
        try await behindOtherInserts { _ = try await connection.run(sql, rows: rows.bytes, settings: settings) }
    }

    /// Runs a statement, and repeats it while another insert waits for its replicas. With a quorum, ClickHouse accepts one insert
    /// at a time.
    private func behindOtherInserts(_ run: () async throws -> Void) async throws {
        let end = ContinuousClock.now + Self.patience
        while true {
            do {
                return try await run()
            } catch let error as ClickHouseError where error.isBehindAnotherInsert && ContinuousClock.now < end {
                try await Task.sleep(for: .milliseconds(Int.random(in: 20...200)))
            }
        }
    }

    /// Whether all replicas of a cluster are available and lag by at most a minute. Otherwise no hour is built, because it
    /// could lack rows. Nothing is dropped either, because ClickHouse would wait for the missing replica. Besides, once rows
    /// that wait for a replica are dropped from a table, 18.16 refuses all inserts into it.
    func hasAllReplicas() async throws -> Bool {
        guard let replicas = layout.replicas else { return true }
        let away: [UInt64] = try await numbers(
            "countIf(active_replicas < total_replicas OR absolute_delay > 60)",
            "FROM \(replicas) WHERE database = '\(layout.database)'")
        return away == [0]
    }

    /// Returns the parts of a partitioned table.
    func parts(of table: Table) async throws -> [Int64] {
        try await numbers(
            "DISTINCT toInt64(partition) AS part",
            """
            FROM \(layout.parts) WHERE active AND database = '\(connection.location.database)' \
            AND table = '\(layout.nameOfRows(table))' ORDER BY part
            """)
    }

    func drop(_ part: Int64, of table: Table) async throws {
        try await run("ALTER TABLE \(layout.everywhere(table)) DROP PARTITION \(part)")
    }

    /// Removes all rows of a partitioned table, part by part. In 18.16, `TRUNCATE` would block a cluster for minutes: each
    /// replica locks its table and sends the statement to the leader, which waits for all replicas.
    func removeRows(of table: Table) async throws {
        for part in try await parts(of: table) { try await drop(part, of: table) }
    }

    /// Returns the number of replicas of a shard. Throws ``StorageFailure`` if the servers do not know the cluster.
    private static func replicas(of cluster: String, _ connection: ClickHouseConnection) async throws -> Int {
        let source = "FROM system.clusters WHERE cluster = '\(cluster)'"
        let found = try await text("toString(max(replica_num))", source, connection)
        guard let count = found.flatMap({ Int($0) }), count > 0 else {
            throw StorageFailure("ClickHouse has no cluster \(cluster) in its remote_servers")
        }
        return count
    }
}
