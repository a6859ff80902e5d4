import Foundation
import Synchronization

/// A ClickHouse of this machine, with data of its own in a temporary folder. The tests of a run share one, which ends with
/// them; each store has a database of its own.
package final class ClickHouseServer: Sendable {
    /// `nil` where no ClickHouse is installed, of which a line tells.
    package static let shared: ClickHouseServer? = {
        guard let program else {
            print(
                "NO CLICKHOUSE: the tests of the store on ClickHouse are left out (apt-get install clickhouse-server)")
            return nil
        }
        do {
            return try ClickHouseServer(program)
        } catch {
            print("NO CLICKHOUSE: \(program.path) does not start: \(error)")
            return nil
        }
    }()

    private let folder: TemporaryFolder
    private let databases = Atomic(0)
    package let port: Int

    package var url: String { "http://127.0.0.1:\(port)" }

    /// Returns the name of a database that no other test uses.
    package func newDatabase() -> String {
        "test_\(databases.wrappingAdd(1, ordering: .relaxed).newValue)"
    }

    private static var program: URL? {
        let folders =
            (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":") + ["/usr/bin", "/usr/sbin"]
        return folders.flatMap { folder in ["clickhouse-server", "clickhouse"].map { "\(folder)/\($0)" } }
            .first { FileManager.default.isExecutableFile(atPath: $0) }.map { URL(fileURLWithPath: $0) }
    }

    private init(_ program: URL) throws {
        // A column is a file: in memory, many thousands of them are made and deleted in seconds.
        let memory = URL(fileURLWithPath: "/dev/shm")
        let isThere = FileManager.default.isWritableFile(atPath: memory.path)
        folder = try TemporaryFolder(in: isThere ? memory : FileManager.default.temporaryDirectory)
        let ports = try Self.freePorts(3)
        port = ports[0]
        try Self.configuration(in: folder, ports).write(
            toFile: folder.path("config.xml"), atomically: true, encoding: .utf8)
        try Self.users.write(toFile: folder.path("users.xml"), atomically: true, encoding: .utf8)
        let isServer = program.lastPathComponent == "clickhouse-server"
        let command =
            [program.path] + (isServer ? [] : ["server"]) + ["--config-file=\(folder.path("config.xml"))"]
        let shell = try Process.run(
            URL(fileURLWithPath: "/bin/bash"),
            arguments: ["-c", Self.script, "clickhouse", "\(getpid())", folder.url.path] + command)
        shell.waitUntilExit()
        guard waitUntilItAnswers() else { throw CocoaError(.executableLoad) }
    }

    /// Returns `false` if it does not answer within a minute.
    private func waitUntilItAnswers() -> Bool {
        for _ in 0..<600 {
            if let connection = Connection(port: port) {
                connection.close()
                return true
            }
            Thread.sleep(forTimeInterval: 0.1)
        }
        return false
    }

    /// Starts a command that ends with a process, and removes a folder then. The command keeps no descriptor of the tests:
    /// Foundation's `Process` learns the end of a child from a socket that every later child inherits, and would wait for this
    /// one.
    private static let script = """
        tests=$1 folder=$2
        shift 2
        (
            for descriptor in /proc/$BASHPID/fd/*; do
                number=${descriptor##*/}
                ((number < 3)) || eval "exec $number>&-"
            done
            "$@" &
            tail --pid="$tests" -f /dev/null
            kill -9 $!
            wait
            rm -rf "$folder"
        ) </dev/null >/dev/null 2>&1 &
        """

    private static func freePorts(_ count: Int) throws -> [Int] {
        let listeners = try (0..<count).map { _ in try Loopback.listen() }
        for listener in listeners { close(listener.descriptor) }
        return listeners.map(\.port)
    }

    private static func configuration(in folder: TemporaryFolder, _ ports: [Int]) -> String {
        """
        <yandex>
            <logger><level>warning</level><log>\(folder.path("log"))</log><errorlog>\(folder.path("errors"))</errorlog></logger>
            <http_port>\(ports[0])</http_port><tcp_port>\(ports[1])</tcp_port>
            <interserver_http_port>\(ports[2])</interserver_http_port><interserver_http_host>127.0.0.1</interserver_http_host>
            <listen_host>127.0.0.1</listen_host><mark_cache_size>67108864</mark_cache_size>
            <path>\(folder.path("data"))/</path><tmp_path>\(folder.path("tmp"))/</tmp_path>
            <user_files_path>\(folder.path("files"))/</user_files_path>
            <merge_tree><old_parts_lifetime>1</old_parts_lifetime></merge_tree>
            <users_config>users.xml</users_config><default_profile>default</default_profile>
            <default_database>default</default_database><timezone>UTC</timezone>
        </yandex>
        """
    }

    /// The user `default` has no password, and `martlet` has one.
    private static let users = """
        <yandex>
            <profiles><default/></profiles><quotas><default/></quotas>
            <users>
                <default><password></password><networks><ip>127.0.0.1</ip></networks>
                    <profile>default</profile><quota>default</quota></default>
                <martlet><password>sesame</password><networks><ip>127.0.0.1</ip></networks>
                    <profile>default</profile><quota>default</quota></martlet>
            </users>
        </yandex>
        """
}
