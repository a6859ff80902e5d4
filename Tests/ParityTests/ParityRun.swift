import Fixtures
import Foundation

/// One run of the program, with or without the agent.
struct ParityRun: Decodable, Sendable {
    enum Mode: String, CaseIterable, Sendable {
        case bare, automatic, explicit

        static let withAgent = [automatic, explicit]
    }

    struct Cell: Decodable, Sendable {
        let name: String
        /// What the program saw, a line each.
        let saw: [String]
        /// What its server received.
        let received: [Received]
        /// Requests that the agent captured.
        let captured: Int
    }

    struct Received: Decodable, Sendable {
        let connection: Int
        let role: String
        let head: [String]
        let body: String
    }

    let captureMode: String?
    let cells: [Cell]

    func cell(_ name: String) -> Cell? { cells.first { $0.name == name } }

    /// The names of the program's cells.
    static func cellNames() async throws -> [String] {
        try JSONDecoder().decode([String].self, from: try await output(["list"]))
    }

    /// Each mode once, one after another: every test looks at the same three runs.
    static func of(_ mode: Mode) async throws -> ParityRun {
        guard let run = try await runs.value[mode] else { throw ChildProcess.Failure(output: "no run \(mode)") }
        return run
    }

    private static let runs = Task {
        var runs: [Mode: ParityRun] = [:]
        for mode in Mode.allCases {
            runs[mode] = try JSONDecoder().decode(ParityRun.self, from: try await output([mode.rawValue]))
        }
        return runs
    }

    private static func output(_ arguments: [String]) async throws -> Data {
        let folder = try TemporaryFolder()
        let environment = [
            "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin",
            // Cookies, caches and downloads are nobody else's.
            "HOME": folder.path("home"), "TMPDIR": folder.path(""),
            // Foundation sends headers in the order of a dictionary.
            "SWIFT_DETERMINISTIC_HASHING": "1",
            // Nobody listens there.
            "MARTLET_ENDPOINT": "http://127.0.0.1:1",
        ]
        let (status, output, errors) =
            try await ChildProcess(.parityProgram, arguments, environment: environment).finish()
        guard status == 0 else { throw ChildProcess.Failure(output: "status \(status): \(errors.suffix(2000))") }
        return Data(output.utf8)
    }
}
