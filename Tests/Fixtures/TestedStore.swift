import Foundation

/// The store that the contract of stores is tested on, by the variable `MARTLET_TEST_STORE`: a file, or a ClickHouse.
package enum TestedStore: String, Sendable {
    case file
    /// The ClickHouse of this machine.
    case clickHouse = "clickhouse"
    /// The current engine of ClickHouse, from PyPI.
    case chDB = "chdb"
    /// Two shards of two replicas each of this machine's ClickHouse.
    case cluster = "clickhouse-cluster"

    package static let current: TestedStore = {
        guard let name = ProcessInfo.processInfo.environment["MARTLET_TEST_STORE"] else { return .file }
        guard let store = TestedStore(rawValue: name) else { fatalError("MARTLET_TEST_STORE=\(name) is no store") }
        return store
    }()

    package static var isClickHouse: Bool { current != .file }

    /// Whether the store can be had on this machine.
    package static var isThere: Bool { !isClickHouse || TestedClickHouse.current != nil }
}
