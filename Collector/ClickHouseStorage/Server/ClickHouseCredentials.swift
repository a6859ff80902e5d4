import NIOSSL

/// The user that the collector is known to ClickHouse as, and the authorities that it believes a server of `https://`. User and
/// password go in headers, which are in no log.
package struct ClickHouseCredentials: Sendable {
    var user: String?
    var password: String?
    var tls: TLSConfiguration

    /// Reads `MARTLET_CLICKHOUSE_USER` and `MARTLET_CLICKHOUSE_PASSWORD`; empty means unset.
    package init(_ environment: [String: String], tls: TLSConfiguration = .makeClientConfiguration()) {
        user = environment["MARTLET_CLICKHOUSE_USER"].flatMap { $0.isEmpty ? nil : $0 }
        password = environment["MARTLET_CLICKHOUSE_PASSWORD"].flatMap { $0.isEmpty ? nil : $0 }
        self.tls = tls
    }
}
