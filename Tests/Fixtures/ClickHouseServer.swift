import Foundation
import Synchronization

/// A ClickHouse of this machine, with its data in a separate folder.
package final class ClickHouseServer: Sendable {
    /// The server that the tests of a run share. It ends with them. If no ClickHouse is installed, this is `nil` and a line is
    /// printed.
    package static let shared: ClickHouseServer? = {
        guard let program else {
            print(
                "NO CLICKHOUSE: the tests of the store on ClickHouse are left out (apt-get install clickhouse-server)")
            return nil
        }
        do {
            let server = try ClickHouseServer(in: try ServerFolder.inMemory())
            try server.startAndWait()
            return server
        } catch {
            print("NO CLICKHOUSE: \(program.path) does not start: \(error)")
            return nil
        }
    }()

    package static var isInstalled: Bool { program != nil }

    let configuration: ClickHouseConfiguration
    private let process: ServerProcess

    package var port: Int { configuration.httpPort }

    package var url: String { "\(configuration.tls == nil ? "http" : "https")://127.0.0.1:\(port)" }

    /// Prepares a server. It is not running yet.
    ///
    /// - Parameter tls: the files of a certificate and its key in PEM; `nil` for plain HTTP.
    package convenience init(in folder: URL, tls: (certificate: String, key: String)? = nil) throws {
        var configuration = try ClickHouseConfiguration(in: folder)
        configuration.tls = tls
        try self.init(configuration)
    }

    init(_ configuration: ClickHouseConfiguration) throws {
        guard let program = Self.program else { throw CocoaError(.executableLoad) }
        self.configuration = configuration
        try configuration.write()
        let isServer = program.lastPathComponent == "clickhouse-server"
        process = ServerProcess(
            [program.path] + (isServer ? [] : ["server"]) + ["--config-file=\(configuration.path)"],
            in: configuration.folder, of: configuration.root)
    }

    /// Starts the server with its existing data, and returns when it answers.
    package func start() async throws {
        try process.start()
        try await answers()
    }

    /// Returns when the server answers.
    func answers() async throws {
        while !Loopback.answers(port) { try await Task.sleep(for: .milliseconds(20)) }
    }

    /// Starts the server and waits up to a minute for it.
    func startAndWait() throws {
        try process.start()
        try Loopback.wait(for: port)
    }

    /// Starts the server and returns before it answers.
    func launch() throws { try process.start() }

    /// Kills the server with SIGKILL.
    package func kill() { process.kill() }

    /// Restricts users to reading, or permits everything again. The server applies this within seconds.
    package func setReadOnly(_ isReadOnly: Bool) throws { try configuration.writeUsers(isReadOnly: isReadOnly) }

    private static var program: URL? {
        let folders =
            (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":") + ["/usr/bin", "/usr/sbin"]
        return folders.flatMap { folder in ["clickhouse-server", "clickhouse"].map { "\(folder)/\($0)" } }
            .first { FileManager.default.isExecutableFile(atPath: $0) }.map { URL(fileURLWithPath: $0) }
    }
}

/// Folders of servers that the tests of a run share.
enum ServerFolder {
    /// Makes a folder, in memory if there is such a file system. A column is a file, and many thousands of them are created and
    /// deleted in seconds.
    static func inMemory() throws -> URL {
        let memory = URL(fileURLWithPath: "/dev/shm")
        let isThere = FileManager.default.isWritableFile(atPath: memory.path)
        let parent = isThere ? memory : FileManager.default.temporaryDirectory
        let folder = parent.appendingPathComponent("martlet-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder
    }
}

extension Loopback {
    /// Whether a process listens on a port.
    static func answers(_ port: Int) -> Bool {
        guard let connection = Connection(port: port) else { return false }
        connection.close()
        return true
    }

    /// Waits until a process listens on a port; throws after a minute.
    static func wait(for port: Int) throws {
        for _ in 0..<600 {
            if answers(port) { return }
            Thread.sleep(forTimeInterval: 0.1)
        }
        throw CocoaError(.executableLoad)
    }
}
