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

    var columnList: String { columns.map(\.name).joined(separator: ", ") }

    /// - Parameter settings: the settings of the engine; empty for its defaults.
    func statement(settings: String) -> String {
        """
        CREATE TABLE IF NOT EXISTS \(name) (\(columns.map { "\($0.name) \($0.type)" }.joined(separator: ", "))) \
        ENGINE = ReplacingMergeTree(\(version ?? "")) \(partition.map { "PARTITION BY \($0) " } ?? "")\
        ORDER BY (\(key))\(settings)
        """
    }

    /// Makes the columns of lines `name type`.
    init(_ name: String, key: String, version: String? = nil, partition: String? = nil, _ columns: String) {
        self.name = name
        self.key = key
        self.version = version
        self.partition = partition
        self.columns = columns.split(separator: "\n").map { line in
            let words = line.split(separator: " ", maxSplits: 1)
            return (String(words[0]), String(words[words.count - 1]))
        }
    }
}
