import Foundation
import MartletStorage
import NIOSSL

/// The location of a store: the servers of one ClickHouse installation, and a database.
package struct ClickHouseLocation: Sendable, Equatable, CustomStringConvertible {
    /// The HTTP interfaces, `http://host:8123`. A request goes to the first one that answers.
    package let servers: [String]
    /// Only letters, digits and `_`, so that SQL needs no quotes around it.
    package let database: String

    /// Reads `http://host:8123/martlet`, or several servers with the database after the last:
    /// `http://a:8123,http://b:8123/martlet`. Throws ``StorageFailure`` for anything else.
    package init(_ text: String) throws {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        let urls = try parts.map { try Self.components(of: $0, in: text) }
        database = urls.last.map { String($0.path.drop { $0 == "/" }) } ?? ""
        guard !database.isEmpty, database.utf8.allSatisfy(Self.isAllowed) else {
            throw StorageFailure("\(text) names no database: http://HOST:8123/DATABASE, of letters, digits and _")
        }
        servers = urls.map { url in
            var url = url
            url.path = ""
            return url.string ?? ""
        }
    }

    package var description: String { servers.joined(separator: ",") + "/" + database }

    private static func components(of part: String, in text: String) throws -> URLComponents {
        guard let url = URLComponents(string: part), ["http", "https"].contains(url.scheme), url.host?.isEmpty == false,
            url.query == nil, url.fragment == nil, url.port.map((1...65535).contains) ?? true
        else { throw StorageFailure("the address of ClickHouse must be http://HOST:8123/DATABASE") }
        guard url.user == nil, url.password == nil else {
            throw StorageFailure(
                "user and password of ClickHouse belong in MARTLET_CLICKHOUSE_USER and MARTLET_CLICKHOUSE_PASSWORD")
        }
        return url
    }

    /// Returns a cluster's name if it has only letters, digits and `_`, so that SQL needs no quotes around it. Otherwise throws
    /// ``StorageFailure``.
    static func checkedCluster(_ cluster: String) throws -> String {
        guard !cluster.isEmpty, cluster.utf8.allSatisfy(isAllowed) else {
            throw StorageFailure("the name of a cluster is made of letters, digits and _")
        }
        return cluster
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}

/// The collector's ClickHouse user, and the certificate authorities that it trusts for servers with `https://`. User and
/// password are sent in headers, which no log contains.
package struct ClickHouseCredentials: Sendable {
    var user: String?
    var password: String?
    var tls: TLSConfiguration

    /// Reads `MARTLET_CLICKHOUSE_USER` and `MARTLET_CLICKHOUSE_PASSWORD`. An empty value counts as unset.
    package init(_ environment: [String: String], tls: TLSConfiguration = .makeClientConfiguration()) {
        user = environment["MARTLET_CLICKHOUSE_USER"].flatMap { $0.isEmpty ? nil : $0 }
        password = environment["MARTLET_CLICKHOUSE_PASSWORD"].flatMap { $0.isEmpty ? nil : $0 }
        self.tls = tls
    }
}
