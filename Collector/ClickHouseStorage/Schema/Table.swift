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
