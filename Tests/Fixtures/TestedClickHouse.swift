import Synchronization

/// A ClickHouse in which tests create their databases.
package final class TestedClickHouse: Sendable {
    /// The ClickHouse that ``TestedStore`` names, or this machine's if that is a file. If it is not available, this is `nil`
    /// and a line is printed.
    package static let current: TestedClickHouse? =
        switch TestedStore.current {
        case .file, .clickHouse: ClickHouseServer.shared.map { TestedClickHouse([$0.url]) }
        case .chDB: ChDBServer.shared.map { TestedClickHouse([$0.url]) }
        case .cluster:
            ClickHouseCluster.shared.map { TestedClickHouse($0.servers.map(\.url), cluster: ClickHouseCluster.name) }
        }

    /// The HTTP interfaces.
    package let urls: [String]
    /// The name of the cluster that the servers form.
    package let cluster: String?
    private let databases = Atomic(0)

    private init(_ urls: [String], cluster: String? = nil) {
        self.urls = urls
        self.cluster = cluster
    }

    /// The HTTP interface of one server of each shard.
    package var oneOfEachShard: [String] {
        cluster == nil ? urls : stride(from: 0, to: urls.count, by: 2).map { urls[$0] }
    }

    /// Returns the location of a database that no other test uses.
    package func newDatabase() -> String {
        urls.joined(separator: ",") + "/test_\(databases.wrappingAdd(1, ordering: .relaxed).newValue)"
    }
}
