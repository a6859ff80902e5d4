import Foundation

/// The store that the contract of stores is tested on: a file, or with `MARTLET_TEST_STORE=clickhouse` a ClickHouse.
package enum TestedStore {
    package static let isClickHouse = ProcessInfo.processInfo.environment["MARTLET_TEST_STORE"] == "clickhouse"

    /// Whether the store can be had on this machine.
    package static var isThere: Bool { !isClickHouse || ClickHouseServer.shared != nil }
}
