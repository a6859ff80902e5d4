/// A table of the store. Rows with the same ``key`` are the same row. Of all copies that ClickHouse received, a SELECT with FINAL
/// returns the one with the highest ``version``.
struct Table: Sendable {
    let name: String
    /// The columns with their types.
    let columns: [(name: String, type: String)]
    let key: String
    /// The column that decides which of the rows with the same key is kept; `nil` if the last one to arrive is kept.
    var version: String?
    /// The expression for the part that a row belongs to. Rows are dropped by part. It uses only columns of the key, so that
    /// rows with the same key are in the same part. `nil` for a table from which nothing is dropped.
    var partition: String?
    /// The expression for the number that selects a row's shard in a cluster. It uses only columns of the key, so that rows
    /// with the same key are in the same shard.
    var shard: String
    /// The number of rows that share an index entry; `nil` for ClickHouse's default of 8,192.
    var indexGranularity: Int?
    /// Whether an insert is answered only after most replicas of a cluster have stored it.
    var hasQuorum: Bool

    var columnList: String { columns.map(\.name).joined(separator: ", ") }

    var columnsWithTypes: String { columns.map { "\($0.name) \($0.type)" }.joined(separator: ", ") }

    /// Returns the engine of the table that holds the rows.
    ///
    /// - Parameters:
    ///   - replica: the arguments that identify the table among its replicas; `nil` without replicas.
    ///   - settings: settings that all engines share.
    func engine(replica: String? = nil, settings: [String]) -> String {
        let arguments = [replica, version].compactMap(\.self).joined(separator: ", ")
        let settings = settings + (indexGranularity.map { ["index_granularity = \($0)"] } ?? [])
        return """
            \(replica == nil ? "" : "Replicated")ReplacingMergeTree(\(arguments)) \
            \(partition.map { "PARTITION BY \($0) " } ?? "")ORDER BY (\(key))\
            \(settings.isEmpty ? "" : " SETTINGS \(settings.joined(separator: ", "))")
            """
    }

    /// Creates the columns from lines of the form `name type`.
    init(
        _ name: String, key: String, version: String? = nil, partition: String? = nil, shard: String? = nil,
        indexGranularity: Int? = nil, hasQuorum: Bool = true, _ columns: String
    ) {
        self.name = name
        self.key = key
        self.version = version
        self.partition = partition
        self.indexGranularity = indexGranularity
        self.hasQuorum = hasQuorum
        self.shard = shard ?? "cityHash64(\(key))"
        self.columns = columns.split(separator: "\n").map { line in
            let words = line.split(separator: " ", maxSplits: 1)
            return (String(words[0]), String(words[words.count - 1]))
        }
    }
}

/// The servers that hold a store's tables: one server, or the shards and replicas of a cluster.
///
/// In a cluster, each table is a `Distributed` one over replicated tables `…_local` with the same columns. Rows with the same key
/// are in the same shard, because FINAL looks at each shard separately. All differences between one server and a cluster are here.
struct TableLayout: Sendable, Equatable {
    let database: String
    /// The cluster's name in the configuration of its servers; `nil` for one server.
    let cluster: String?

    /// - Parameter engine: the engine of the store's first table, from `system.tables`.
    init(database: String, engine: String) {
        let arguments = engine.hasPrefix("Distributed(") ? engine.dropFirst("Distributed(".count) : ""
        let name = arguments.prefix { $0 != "," }.filter { $0 != "'" && $0 != "\\" }
        self.init(database: database, cluster: name.isEmpty ? nil : String(name))
    }

    init(database: String, cluster: String?) {
        self.database = database
        self.cluster = cluster
    }

    /// The table that lists the parts on all servers, each part once.
    var parts: String { cluster.map { "cluster('\($0)', system.parts)" } ?? "system.parts" }

    /// The table that lists the replicated tables of all shards; `nil` for one server.
    var replicas: String? { cluster.map { "cluster('\($0)', system.replicas)" } }

    var onCluster: String { cluster.map { " ON CLUSTER \($0)" } ?? "" }

    /// The name of the table that holds the rows of one server.
    func nameOfRows(_ table: Table) -> String { cluster == nil ? table.name : table.name + "_local" }

    /// Returns the table on all servers, for statements other than INSERT and SELECT.
    func everywhere(_ table: Table) -> String { "\(database).\(nameOfRows(table))\(onCluster)" }

    /// Returns the statements that create a table if it is missing.
    ///
    /// - Parameter settings: settings of the engine of every table.
    func statements(_ table: Table, settings: [String]) -> [String] {
        let rows = "CREATE TABLE IF NOT EXISTS \(everywhere(table)) (\(table.columnsWithTypes)) ENGINE = "
        guard let distributed = distributed(table) else { return [rows + table.engine(settings: settings)] }
        // Each server replaces the braces with its own names.
        let replica = "'/clickhouse/tables/{shard}/\(database)/\(table.name)', '{replica}'"
        return [rows + table.engine(replica: replica, settings: settings), distributed]
    }

    /// Returns the statement that creates the table over those of all shards; `nil` for one server.
    private func distributed(_ table: Table) -> String? {
        cluster.map { cluster in
            """
            CREATE TABLE IF NOT EXISTS \(database).\(table.name)\(onCluster) (\(table.columnsWithTypes)) \
            ENGINE = Distributed(\(cluster), \(database), \(nameOfRows(table)), \(table.shard))
            """
        }
    }

    /// Returns the statements that add the columns of a table that it lacks.
    ///
    /// In a cluster they make its `Distributed` table again, because ClickHouse alters only replicated tables on a cluster. A batch
    /// that arrives in between is refused, and sent again.
    ///
    /// - Parameter lacks: whether a table, by its name in the database, lacks the column.
    func additions(to table: Table, isModern: Bool, lacks: (_ table: String, _ column: String) -> Bool) -> [String] {
        let rows = table.columns.filter { lacks(nameOfRows(table), $0.name) }.map {
            "ALTER TABLE \(everywhere(table)) ADD COLUMN \(isModern ? "IF NOT EXISTS " : "")\($0.name) \($0.type)"
        }
        let isOutdated = !rows.isEmpty || table.columns.contains { lacks(table.name, $0.name) }
        guard isOutdated, let distributed = distributed(table) else { return rows }
        return rows + ["DROP TABLE IF EXISTS \(database).\(table.name)\(onCluster)", distributed]
    }

    /// The setting for the quorum. Without it, an answer waits for only one replica.
    static let quorum = "insert_quorum"

    /// Returns the settings for statements on a cluster.
    ///
    /// - Parameter replicas: the number of replicas of a shard.
    static func settings(replicas: Int) -> [(String, String)] {
        [
            // An INSERT is answered only after most replicas of each shard have stored it.
            ("insert_distributed_sync", "1"), (quorum, "\(replicas / 2 + 1)"), ("insert_quorum_timeout", "10000"),
            // A resent block is stored again, because its first copy may lack replicas. FINAL returns one copy.
            ("insert_deduplicate", "0"),
            // Reads and writes use the first replica of a shard that answers, so that a SELECT finds rows that were stored
            // before it. `select_sequential_consistency` would fail in 18.16 after a part was dropped.
            ("load_balancing", "in_order"), ("prefer_localhost_replica", "0"),
            ("distributed_product_mode", "global"),
            // Shorter than the time limit of a request: see `ClickHouseConnection`.
            ("distributed_ddl_task_timeout", "20"),
        ]
    }
}
