import Foundation

/// Servers of this machine's ClickHouse that form two shards of some replicas each, and the ZooKeeper that replicas need.
package final class ClickHouseCluster: Sendable {
    /// The cluster that the tests of a run share. It ends with them. If its parts are not installed, this is `nil` and a line
    /// is printed.
    package static let shared: ClickHouseCluster? = {
        do {
            let cluster = try ClickHouseCluster(in: try ServerFolder.inMemory())
            try cluster.startAndWait()
            return cluster
        } catch {
            print(
                "NO CLUSTER: the tests of a cluster are left out (apt-get install clickhouse-server zookeeper): \(error)"
            )
            return nil
        }
    }()

    /// Whether ClickHouse and ZooKeeper are installed.
    package static var isInstalled: Bool {
        ClickHouseServer.isInstalled && FileManager.default.fileExists(atPath: ZooKeeper.library)
    }

    /// The cluster's name in the servers' configuration.
    package static let name = "fleet"
    /// The replicas of the first shard, then the replicas of the second.
    package let servers: [ClickHouseServer]
    private let zooKeeper: ZooKeeper

    /// Prepares the servers. They are not running yet.
    ///
    /// - Parameter replicas: the number of replicas of a shard.
    package init(in folder: URL, replicas: Int = 2) throws {
        let zooKeeper = try ZooKeeper(in: folder.appendingPathComponent("zookeeper"), of: folder)
        let configurations = try (0..<2 * replicas).map { number in
            try ClickHouseConfiguration(in: folder.appendingPathComponent("server-\(number)"), of: folder)
        }
        let shards = [configurations[..<replicas], configurations[replicas...]].map(Self.shard).joined()
        servers = try configurations.enumerated().map { number, configuration in
            var configuration = configuration
            configuration.cluster = """
                <remote_servers><\(Self.name)>\(shards)</\(Self.name)></remote_servers>
                <zookeeper><node index="1"><host>127.0.0.1</host><port>\(zooKeeper.port)</port></node>
                    <session_timeout_ms>10000</session_timeout_ms></zookeeper>
                <distributed_ddl><path>/clickhouse/ddl</path></distributed_ddl>
                <macros><shard>\(number / replicas)</shard><replica>\(number % replicas)</replica></macros>
                """
            return try ClickHouseServer(configuration)
        }
        self.zooKeeper = zooKeeper
    }

    package func start() async throws {
        try zooKeeper.start()
        for server in servers { try server.launch() }
        for server in servers { try await server.answers() }
    }

    private func startAndWait() throws {
        try zooKeeper.start()
        for server in servers { try server.launch() }
        for server in servers { try Loopback.wait(for: server.port) }
    }

    private static func shard(_ replicas: ArraySlice<ClickHouseConfiguration>) -> String {
        let replicas = replicas.map { "<replica><host>127.0.0.1</host><port>\($0.tcpPort)</port></replica>" }
        return "<shard><internal_replication>true</internal_replication>\(replicas.joined())</shard>"
    }
}

/// This machine's ZooKeeper, from Debian's package.
private final class ZooKeeper: Sendable {
    static let library = "/usr/share/java/zookeeper.jar"

    let port: Int
    private let process: ServerProcess

    init(in folder: URL, of root: URL) throws {
        port = try Loopback.freePorts(1)[0]
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let configuration = folder.appendingPathComponent("zoo.cfg")
        let lines = [
            "tickTime=1000", "dataDir=\(folder.path)/data", "clientPort=\(port)", "clientPortAddress=127.0.0.1",
            "admin.enableServer=false", "maxClientCnxns=0",
        ]
        try lines.joined(separator: "\n").write(to: configuration, atomically: true, encoding: .utf8)
        process = ServerProcess(
            [
                "/usr/bin/env", "java", "-Xmx256m", "-cp", Self.library,
                "org.apache.zookeeper.server.quorum.QuorumPeerMain", configuration.path,
            ], in: folder, of: root)
    }

    /// Starts the server and waits up to a minute until it takes sessions. ClickHouse 18.16 crashes in a session that is
    /// refused.
    func start() throws {
        try process.start()
        for _ in 0..<600 {
            if isServing { return }
            Thread.sleep(forTimeInterval: 0.1)
        }
        throw CocoaError(.executableLoad)
    }

    /// Whether its answer to the command `srvr` names its mode. It never answers a connection that came too early.
    private var isServing: Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        defer { close(descriptor) }
        var second = timeval(tv_sec: 1, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &second, socklen_t(MemoryLayout<timeval>.size))
        guard Loopback.withAddress(port: port, { connect(descriptor, $0, $1) == 0 }),
            send(descriptor, "srvr", 4, Int32(MSG_NOSIGNAL)) == 4
        else { return false }
        var answer: [UInt8] = []
        var bytes = [UInt8](repeating: 0, count: 1024)
        while case let count = recv(descriptor, &bytes, bytes.count, 0), count > 0 { answer += bytes[..<count] }
        return String(decoding: answer, as: UTF8.self).contains("Mode:")
    }
}
