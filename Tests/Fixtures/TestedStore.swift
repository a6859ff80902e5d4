import Foundation
import Synchronization

/// The store for tests that run on any store, from the variable `MARTLET_TEST_STORE`: a file or a ClickHouse.
package enum TestedStore: String, Sendable {
    case file
    /// The ClickHouse of this machine.
    case clickHouse = "clickhouse"
    /// The current engine of ClickHouse, from PyPI.
    case chDB = "chdb"
    /// Two shards of this machine's ClickHouse, with two replicas each.
    case cluster = "clickhouse-cluster"

    package static let current: TestedStore = {
        guard let name = ProcessInfo.processInfo.environment["MARTLET_TEST_STORE"] else { return .file }
        guard let store = TestedStore(rawValue: name) else { fatalError("MARTLET_TEST_STORE=\(name) is no store") }
        return store
    }()

    package static var isClickHouse: Bool { current != .file }

    private static let databases = Mutex<[String: String]>([:])

    /// Returns a store as the commands name it. If the tested store is a ClickHouse, the path of a file becomes a separate
    /// database with the same answers.
    ///
    /// - Parameter store: the path of a file, or `clickhouse:…`.
    package static func location(of store: String) async throws -> String {
        if store.hasPrefix("clickhouse:") { return store }
        guard isClickHouse else { return "sqlite:" + store }
        if let known = databases.withLock({ $0[store] }) { return known }
        guard let server = TestedClickHouse.current else { throw CocoaError(.executableLoad) }
        let location = "clickhouse:" + server.newDatabase()
        let cluster = server.cluster.map { ["--cluster", $0] } ?? []
        let (status, _, errors) = try await ChildProcess(
            .martletCollector, ["migrate", "--store", location] + cluster
        ).finish()
        guard status == 0 else { throw ChildProcess.Failure(output: errors) }
        databases.withLock { $0[store] = location }
        return location
    }

    /// Whether the store is available on this machine.
    package static var isThere: Bool { !isClickHouse || TestedClickHouse.current != nil }
}
