import MartletStorage

/// Creates a store's tables or adds the columns that they lack, and checks that a collector and a store fit together.
package enum Migration {
    /// Creates the database, its tables and their columns if they are missing. It may run at any time, and concurrently with itself
    /// and with collectors of the version before.
    ///
    /// - Parameter cluster: the cluster for the tables, by its name in ClickHouse's configuration; `nil` for one server, or for the
    ///   cluster that they are already on.
    ///
    /// - Returns: whether all servers of the cluster have the tables. If not, a server is away, but the servers that collectors
    ///   need have them.
    @discardableResult
    package static func run(
        at location: ClickHouseLocation, _ credentials: ClickHouseCredentials, cluster: String? = nil
    ) async throws -> Bool {
        let client = try await ClickHouseClient(
            location, credentials, cluster: cluster, timeout: ClickHouseLimits().answerTime)
        let found = try await knownVersion(client)
        guard found <= Schema.version else { throw newer(found, at: location) }
        do {
            try await makeTables(client)
            return true
        } catch let error as ClickHouseError where error.isTimeout {
            guard found == Schema.version, try await storeID(client) != nil else {
                throw StorageFailure("a server of the cluster is away, and tables are made on all of them: \(error)")
            }
            return false
        }
    }

    private static func makeTables(_ client: ClickHouseClient) async throws {
        let location = client.connection.location
        let (layout, settings) = (client.layout, Schema.durability(isModern: client.isModern))
        try await client.run(
            "CREATE DATABASE IF NOT EXISTS \(location.database)\(layout.onCluster)", isInDatabase: false)
        for sql in layout.statements(Schema.migration, settings: settings) { try await client.run(sql) }
        for table in Schema.all {
            for sql in layout.statements(table, settings: settings) { try await client.run(sql) }
        }
        try await addColumns(client)
        if try await storeID(client) == nil {
            let id = String(UInt64.random(in: 0 ... .max), radix: 16) + String(UInt64.random(in: 0 ... .max), radix: 16)
            try await client.run("INSERT INTO store (id) VALUES ('\(id)')")
        }
        if try await version(client) < Schema.version {
            try await client.run("INSERT INTO migration (version) VALUES (\(Schema.version))")
        }
    }

    /// Adds the columns that the tables of an older version lack. In the rows that are stored already, and in those of collectors
    /// of that version, they are 0 or empty. Old servers refuse a column that another command has just added; the next run finds it.
    private static func addColumns(_ client: ClickHouseClient) async throws {
        let found = try await client.texts(
            "concat(table, ' ', name)", "FROM system.columns WHERE database = '\(client.layout.database)'")
        let known = Set(found)
        for table in Schema.all {
            let additions = client.layout.additions(to: table, isModern: client.isModern) {
                !known.contains("\($0) \($1)")
            }
            for sql in additions { try await client.run(sql) }
        }
    }

    /// Returns the store's id. Throws ``StorageFailure`` if this collector does not know the tables. If they are missing or
    /// older, the failure names the command to run.
    static func check(_ client: ClickHouseClient) async throws -> String {
        let location = client.connection.location
        let found = try await knownVersion(client)
        guard found <= Schema.version else { throw newer(found, at: location) }
        guard found == Schema.version, let id = try await storeID(client) else {
            let state = found == 0 ? "has no tables of Martlet" : "has the tables of an older Martlet (\(found))"
            let command = "martlet-collector migrate --store clickhouse:\(location)"
            throw StorageFailure("\(location) \(state); run: \(command) (for a cluster with --cluster NAME)")
        }
        return id
    }

    /// Returns the version of the tables; 0 if there are none.
    private static func knownVersion(_ client: ClickHouseClient) async throws -> UInt32 {
        let tables: [UInt64] = try await client.numbers(
            "count()", "FROM system.tables WHERE database = '\(client.layout.database)' AND name = 'migration'",
            isInDatabase: false)
        return tables == [1] ? try await version(client) : 0
    }

    private static func version(_ client: ClickHouseClient) async throws -> UInt32 {
        try await client.number("max(version)", "FROM migration") ?? 0
    }

    private static func storeID(_ client: ClickHouseClient) async throws -> String? {
        try await client.texts("min(id)", "FROM store").first?.presence
    }

    private static func newer(_ version: UInt32, at location: ClickHouseLocation) -> StorageFailure {
        StorageFailure(
            "\(location) has the tables of a newer Martlet (\(version)); this one knows \(Schema.version): use the newer collector"
        )
    }
}
