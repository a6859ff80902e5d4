/// A table of the store. Rows with the same ``key`` are the same row: of those that ClickHouse was given, a SELECT with FINAL
/// returns the one with the greatest ``version``.
struct Table: Sendable {
    let name: String
    /// The columns with their types.
    let columns: [(name: String, type: String)]
    let key: String
    /// The column that decides which of the same rows stays; `nil` for the one that came last.
    var version: String?
    /// The expression of the part that a row is kept in and dropped with. It depends on columns of the key alone, so that the same rows
    /// are in the same part; `nil` for a table that nothing is dropped from.
    var partition: String?
    /// The number that decides which shard of a cluster has a row. It depends on columns of the key alone, so that the same rows are in
    /// the same shard.
    var shard: String
    /// Rows that share an entry of the index; `nil` for ClickHouse's default of 8,192.
    var indexGranularity: Int?
    /// Whether an answer waits for most replicas of a cluster.
    var hasQuorum: Bool

    var columnList: String { columns.map(\.name).joined(separator: ", ") }

    var columnsWithTypes: String { columns.map { "\($0.name) \($0.type)" }.joined(separator: ", ") }

    /// Returns the engine of the table that has the rows.
    ///
    /// - Parameters:
    ///   - replica: the arguments that name the table among its replicas; `nil` without replicas.
    ///   - settings: settings of all engines.
    func engine(replica: String? = nil, settings: [String]) -> String {
        let arguments = [replica, version].compactMap(\.self).joined(separator: ", ")
        let settings = settings + (indexGranularity.map { ["index_granularity = \($0)"] } ?? [])
        return """
            \(replica == nil ? "" : "Replicated")ReplacingMergeTree(\(arguments)) \
            \(partition.map { "PARTITION BY \($0) " } ?? "")ORDER BY (\(key))\
            \(settings.isEmpty ? "" : " SETTINGS \(settings.joined(separator: ", "))")
            """
    }

    /// Makes the columns of lines `name type`.
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

/// The servers that a store's tables lie on: one, or the shards and replicas of a cluster.
///
/// In a cluster each table is a `Distributed` one over replicated tables `…_local` of the same columns. Rows with the same key
/// are in the same shard, because FINAL looks at each shard alone. All differences between one server and a cluster are here.
struct TableLayout: Sendable, Equatable {
    let database: String
    /// The cluster's name in the configuration of its servers; `nil` for one server.
    let cluster: String?

    /// - Parameter engine: the engine of the store's first table, as `system.tables` tells it.
    init(database: String, engine: String) {
        let arguments = engine.hasPrefix("Distributed(") ? engine.dropFirst("Distributed(".count) : ""
        let name = arguments.prefix { $0 != "," }.filter { $0 != "'" && $0 != "\\" }
        self.init(database: database, cluster: name.isEmpty ? nil : String(name))
    }

    init(database: String, cluster: String?) {
        self.database = database
        self.cluster = cluster
    }

    /// The table of parts of all servers, each part once.
    var parts: String { cluster.map { "cluster('\($0)', system.parts)" } ?? "system.parts" }

    /// The table of the replicated tables of all shards; `nil` for one server.
    var replicas: String? { cluster.map { "cluster('\($0)', system.replicas)" } }

    var onCluster: String { cluster.map { " ON CLUSTER \($0)" } ?? "" }

    /// The name of the table that has the rows of one server.
    func nameOfRows(_ table: Table) -> String { cluster == nil ? table.name : table.name + "_local" }

    /// The table on all servers, for statements that INSERT and SELECT are not.
    func everywhere(_ table: Table) -> String { "\(database).\(nameOfRows(table))\(onCluster)" }

    /// Returns the statements that make a table where it is missing.
    ///
    /// - Parameter settings: settings of the engine of every table.
    func statements(_ table: Table, settings: [String]) -> [String] {
        let rows = "CREATE TABLE IF NOT EXISTS \(everywhere(table)) (\(table.columnsWithTypes)) ENGINE = "
        guard let cluster else { return [rows + table.engine(settings: settings)] }
        // The servers put their own names into the braces.
        let replica = "'/clickhouse/tables/{shard}/\(database)/\(table.name)', '{replica}'"
        return [
            rows + table.engine(replica: replica, settings: settings),
            """
            CREATE TABLE IF NOT EXISTS \(database).\(table.name)\(onCluster) (\(table.columnsWithTypes)) \
            ENGINE = Distributed(\(cluster), \(database), \(nameOfRows(table)), \(table.shard))
            """,
        ]
    }

    /// The setting without which an answer waits for one replica alone.
    static let quorum = "insert_quorum"

    /// Returns the settings for statements on a cluster.
    ///
    /// - Parameter replicas: the replicas of a shard.
    static func settings(replicas: Int) -> [(String, String)] {
        [
            // The answer to an INSERT follows the storing, by most replicas of each shard.
            ("insert_distributed_sync", "1"), (quorum, "\(replicas / 2 + 1)"), ("insert_quorum_timeout", "10000"),
            // A block that comes again is stored again, because its first one may lack replicas. FINAL returns one.
            ("insert_deduplicate", "0"),
            // The first replica of a shard that answers is read and written to, so that a SELECT finds what was stored before.
            // `select_sequential_consistency` would fail in 18.16 after a part was dropped.
            ("load_balancing", "in_order"), ("prefer_localhost_replica", "0"),
            ("distributed_product_mode", "global"),
            // Less than the time limit of a request: see `ClickHouseConnection`.
            ("distributed_ddl_task_timeout", "20"),
        ]
    }
}
