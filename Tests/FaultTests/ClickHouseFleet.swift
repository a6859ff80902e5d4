import Fixtures
import Foundation
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A ClickHouse with its data on disk, as one server or a cluster, and the collectors that store in it.
actor ClickHouseFleet {
    /// The members to kill at the same time.
    enum Killed: CaseIterable {
        case collector, everything, clickHouse
    }

    nonisolated let servers: [ClickHouseServer]
    /// The store as commands name it.
    nonisolated let store: String
    private let scene: Scene
    private var collectors: [CollectorProcess] = []

    /// - Parameter folder: where ClickHouse keeps its data; `nil` for a folder of the scene.
    init(in scene: Scene, data folder: URL? = nil) async throws {
        let server = try ClickHouseServer(in: folder ?? scene.folder.url.appendingPathComponent("clickhouse"))
        try await server.start()
        try await self.init(in: scene, [server], cluster: nil)
    }

    init(in scene: Scene, _ cluster: ClickHouseCluster) async throws {
        try await cluster.start()
        try await self.init(in: scene, cluster.servers, cluster: ClickHouseCluster.name)
    }

    private init(in scene: Scene, _ servers: [ClickHouseServer], cluster: String?) async throws {
        self.scene = scene
        self.servers = servers
        store = Self.store(at: servers.map(\.port))
        try await migrate(cluster.map { ["--cluster", $0] } ?? [])
    }

    func migrate(_ options: [String] = []) async throws {
        let (status, _, errors) = try await ChildProcess(
            .martletCollector, ["migrate", "--store", store] + options
        ).finish()
        guard status == 0 else { throw ChildProcess.Failure(output: errors) }
    }

    private static func store(at ports: [Int]) -> String {
        "clickhouse:\(ports.map { "http://127.0.0.1:\($0)" }.joined(separator: ","))/martlet"
    }

    var addresses: [String] { collectors.map(\.address) }

    var ports: [Int] { collectors.map(\.port) }

    /// Starts a collector of this store.
    ///
    /// - Parameters:
    ///   - gate: the gate in front of ClickHouse; `nil` for none.
    ///   - port: 0 for a free port.
    func addCollector(behind gate: Gate? = nil, port: Int = 0) async throws -> Int {
        let collector = try await scene.collector(port: port, store: gate.map { Self.store(at: [$0.port]) } ?? store)
        collectors.append(collector)
        return collector.port
    }

    /// Kills the last collector that was started.
    func killCollector() async { await collectors.popLast()?.kill() }

    /// Kills members with SIGKILL, starts them again and returns when all collectors are ready.
    ///
    /// - Parameter number: which collector to kill, if one is killed.
    func kill(_ killed: Killed, collector number: Int) async throws {
        if killed != .collector { for server in servers { server.kill() } }
        let numbers = killed == .clickHouse ? [] : killed == .collector ? [number] : Array(collectors.indices)
        for number in numbers { await collectors[number].kill() }
        // A collector does not start if its store is down.
        if killed != .collector { for server in servers { try await server.start() } }
        for number in numbers {
            collectors[number] = try await scene.collector(port: collectors[number].port, store: store)
        }
        for collector in collectors { try await collector.awaitReadiness(200) }
    }

    /// Sends a sample batch to the first collector and returns the status of its answer. The batch is sent only once,
    /// so the collector must refuse it.
    func post() async throws -> Int {
        var sample = SampleBatch(seed: scene.seed.value)
        return try await collectors[0].post(try sample.next().otlp(), batch: "sample/1/metrics")
    }

    /// Returns when all collectors report this readiness.
    func awaitReadiness(_ status: Int) async throws {
        for collector in collectors { try await collector.awaitReadiness(status) }
    }

    /// Delivers the waiting batches, and expects the store and each collector to have every request once.
    func expectEverythingCountedOnce(sourceLocation: SourceLocation = #_sourceLocation) async throws {
        try await scene.drain(collector: ports[0], environment: environment)
        for source in [store] + addresses {
            try await scene.expectEverythingCountedOnce(stores: [source], sourceLocation: sourceLocation)
        }
    }

    /// The variables of a service that sends to all collectors. Under load a collector inserts once a second and
    /// answers after the insert, so an agent delivers one batch a second.
    var environment: [String: String] {
        [
            "MARTLET_ENDPOINT": addresses.joined(separator: ","), "MARTLET_BUFFER_ADOPT": "",
            "MARTLET_EXPORT_TIMEOUT": "10s", "MARTLET_INTERVAL": "1s",
        ]
    }
}

extension CollectorProcess {
    fileprivate func awaitReadiness(_ status: Int) async throws {
        let url = try #require(URL(string: address + "/readyz"))
        while try await (URLSession.shared.data(from: url).1 as? HTTPURLResponse)?.statusCode != status {
            try await Task.sleep(for: .milliseconds(20))
        }
    }
}
