import Fixtures
import Foundation
import MartletOTLP
import Synchronization

/// One run of the program, with or without the agent. The agent keeps as much as possible: the details of every
/// request, with all header fields and bodies.
struct ParityRun: Decodable, Sendable {
    enum Mode: String, CaseIterable, Sendable {
        case bare, automatic, explicit

        static let withAgent = [automatic, explicit]
    }

    struct Cell: Decodable, Sendable {
        let name: String
        /// Nanoseconds since 1970.
        let began: UInt64
        /// The program's notes, a line each.
        let saw: [String]
        /// The requests that the server received.
        let received: [Received]
        /// The number of requests that the agent captured.
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
    private var spans: [OTLPSpan] = []

    private enum CodingKeys: CodingKey {
        case captureMode, cells
    }

    func cell(_ name: String) -> Cell? { cells.first { $0.name == name } }

    /// Returns the kept spans of the requests that began in a cell, the earliest first.
    func spans(of name: String) -> [OTLPSpan] {
        guard let index = cells.firstIndex(where: { $0.name == name }) else { return [] }
        let end = cells.dropFirst(index + 1).first?.began ?? .max
        return spans.filter { (cells[index].began..<end).contains($0.startTimeUnixNano) }
            .sorted { $0.startTimeUnixNano < $1.startTimeUnixNano }
    }

    /// Returns the names of the program's cells.
    static func cellNames() async throws -> [String] {
        try JSONDecoder().decode([String].self, from: try await output("list"))
    }

    /// Returns the run of a mode. The three modes run once, at the same time, and all tests use these runs.
    static func of(_ mode: Mode) async throws -> ParityRun {
        guard let run = try await runs.value[mode] else { throw ChildProcess.Failure(output: "no run \(mode)") }
        return run
    }

    private static let runs = Task {
        try await withThrowingTaskGroup { group in
            for mode in Mode.allCases { group.addTask { (mode, try await make(mode)) } }
            return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
    }

    private static func make(_ mode: Mode) async throws -> ParityRun? {
        let collector = SpanCollector()
        let made = Mutex<ParityRun?>(nil)
        try await LoopbackServer.run(collector.router) { address in
            let output = try await output(mode.rawValue, collector: address.absoluteString)
            var run = try JSONDecoder().decode(ParityRun.self, from: output)
            run.spans = try collector.spans
            let complete = run
            made.withLock { $0 = complete }
        }
        return made.withLock { $0 }
    }

    private static func output(_ argument: String, collector: String = "") async throws -> Data {
        let folder = try TemporaryFolder()
        let environment = [
            "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin",
            // Cookies, caches and downloads stay within this run's folder.
            "HOME": folder.path("home"), "TMPDIR": folder.path(""),
            // Foundation sends headers in the order of a dictionary.
            "SWIFT_DETERMINISTIC_HASHING": "1",
            // Without a name server, a failed look-up ends within a cell's time.
            "RES_OPTIONS": "timeout:1 attempts:1", "LOCALDOMAIN": ".",
            // The limits are very high, because the agent would give up details first.
            "MARTLET_MAX_CPU": "100%", "MARTLET_MAX_MEMORY": "1GiB",
            "MARTLET_SAMPLE_RATE": "1", "MARTLET_CAPTURE_HEADERS": "all", "MARTLET_CAPTURE_BODIES": "all",
            "MARTLET_ENDPOINT": collector, "MARTLET_COMPRESSION": "none",
        ].merging(TestedTransport.environment) { $1 }
        let (status, output, errors) =
            try await ChildProcess(.parityProgram, [argument], environment: environment).finish()
        guard status == 0 else { throw ChildProcess.Failure(output: "status \(status): \(errors.suffix(2000))") }
        return Data(output.utf8)
    }
}
