/// The user that the collector is known to ClickHouse as. They go in headers, which are in no log.
package struct ClickHouseCredentials: Sendable {
    var user: String?
    var password: String?

    /// Reads `MARTLET_CLICKHOUSE_USER` and `MARTLET_CLICKHOUSE_PASSWORD`; empty means unset.
    package init(_ environment: [String: String]) {
        user = environment["MARTLET_CLICKHOUSE_USER"].flatMap { $0.isEmpty ? nil : $0 }
        password = environment["MARTLET_CLICKHOUSE_PASSWORD"].flatMap { $0.isEmpty ? nil : $0 }
    }
}
