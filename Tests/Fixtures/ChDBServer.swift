import Foundation

/// The current engine of ClickHouse with an HTTP interface. Debian has only an old one, and PyPI has the current one as a
/// library (`chdb-core`).
final class ChDBServer: Sendable {
    /// The server that the tests of a run share. If the package is not installed, this is `nil` and a line is printed.
    static let shared: ChDBServer? = {
        do {
            return try ChDBServer()
        } catch {
            print(
                "NO CHDB: the tests of the store on a current ClickHouse are left out (pip install chdb-core): \(error)"
            )
            return nil
        }
    }()

    private let process: ServerProcess
    private let port: Int

    var url: String { "http://127.0.0.1:\(port)" }

    private init() throws {
        port = try Loopback.freePorts(1)[0]
        let folder = try ServerFolder.inMemory()
        let script = Repository.path("Tests/ChDBServer/server.py")
        process = ServerProcess(
            [ChildProcess.Program.testPython.url.path, script, "\(port)", folder.path], in: folder)
        try process.start()
        try Loopback.wait(for: port)
    }
}
