import Fixtures
import Foundation
import Testing

/// The first session of a process fixes the protocols of `URLSession.shared`. The agent's session for uploads must not
/// be the first, even if an earlier process left batches to upload.
struct LateSessionTests {
    private static let cell = "foreign protocol, registered before the first session"

    private struct Run: Decodable {
        struct Cell: Decodable { let saw: [String] }
        let cells: [Cell]
    }

    private func run(_ mode: String, _ cell: String, in folder: TemporaryFolder) async throws -> Run {
        let environment = [
            "PATH": ChildProcess.Program.path, "HOME": folder.path("home"), "TMPDIR": folder.path(""),
            "SWIFT_DETERMINISTIC_HASHING": "1", "MARTLET_BUFFER_DIR": folder.path("buffer"),
            "MARTLET_TRANSPORT": "urlsession", "MARTLET_ENDPOINT": "http://127.0.0.1:1",
            "MARTLET_LOG_LEVEL": "critical",
        ]
        let (status, output, errors) =
            try await ChildProcess(.parityProgram, [mode, cell], environment: environment).finish()
        guard status == 0 else { throw ChildProcess.Failure(output: "status \(status): \(errors.suffix(2000))") }
        return try JSONDecoder().decode(Run.self, from: Data(output.utf8))
    }

    @Test(arguments: ["automatic", "explicit"])
    func protocolRegisteredAfterTheStartWorksAsWithoutTheAgent(mode: String) async throws {
        let folder = try TemporaryFolder()
        let bare = try await run("bare", Self.cell, in: folder)
        #expect(bare.cells.first?.saw.contains { $0.contains("203") } == true)
        _ = try await run(mode, "POST with a body", in: folder)
        #expect(folder.contents().contains { $0.hasSuffix(".otlp.gz") })
        let agent = try await run(mode, Self.cell, in: folder)
        #expect(agent.cells.map(\.saw) == bare.cells.map(\.saw))
    }
}
