import Synchronization

/// A ClickHouse that tests make their databases in.
package final class TestedClickHouse: Sendable {
    /// The one that ``TestedStore`` names; this machine's for a file. `nil` where it cannot be had, of which a line tells.
    package static let current: TestedClickHouse? =
        switch TestedStore.current {
        case .file, .clickHouse: ClickHouseServer.shared.map { TestedClickHouse([$0.url]) }
        case .chDB: ChDBServer.shared.map { TestedClickHouse([$0.url]) }
        case .cluster:
            ClickHouseCluster.shared.map { TestedClickHouse($0.servers.map(\.url), cluster: ClickHouseCluster.name) }
        }

    /// The HTTP interfaces.
    package let urls: [String]
    /// The name of the cluster that the servers are.
    package let cluster: String?
    private let databases = Atomic(0)

    private init(_ urls: [String], cluster: String? = nil) {
        self.urls = urls
        self.cluster = cluster
    }

    /// Returns the place of a database that no other test uses.
    package func newDatabase() -> String {
        urls.joined(separator: ",") + "/test_\(databases.wrappingAdd(1, ordering: .relaxed).newValue)"
    }
}
