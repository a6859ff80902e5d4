import Fixtures
import Foundation
import MartletReports
import MartletSQLiteStorage
import MartletStorage
import Testing

/// The command on a real terminal, which `script` (util-linux) makes, and in a pipe.
@Suite struct TerminalTests {
    private let folder: TemporaryFolder
    private var store: String { "sqlite:" + folder.path("collector.sqlite") }

    init() async throws {
        folder = try TemporaryFolder()
        let now = SystemClock.now()
        let storage = try SQLiteStorage(path: folder.path("collector.sqlite"))
        let endpoints = ["/products/{product}/reviews/of/the/last/month/by/people/who/bought/it", "/payments"]
        let points = endpoints.map { endpoint in
            var point = Samples.point(Samples.dimensions(endpoint: endpoint, status: 503), [0.1, 0.2])
            (point.start, point.end) = (now - 60_000_000_000, now - 50_000_000_000)
            return point
        }
        _ = try await storage.store([.init(resource: Samples.resource(), points: points)], of: nil)
        try storage.close()
    }

    private func report(
        _ flags: [String] = [], columns: Int?, environment: [String: String] = [:]
    ) async throws -> String {
        let command = [ChildProcess.Program.martletCollector.url.path, "report", "--store", store] + flags
        guard let columns else {
            return try await ChildProcess(.martletCollector, Array(command.dropFirst()), environment: environment)
                .finish().output
        }
        let script = ChildProcess.Program(url: URL(fileURLWithPath: "/usr/bin/script"))
        let line = "stty cols \(columns); exec " + command.map { "'\($0)'" }.joined(separator: " ")
        return try await ChildProcess(script, ["-qec", line, "/dev/null"], environment: environment).finish().output
    }

    @Test func terminalGetsItsWidthAndColoursAndAPipeNeither() async throws {
        let environment = ["TERM": "xterm"]
        let terminal = try await report(columns: 90, environment: environment)
        #expect(terminal.contains("\u{1b}[1m"))
        #expect(terminal.contains("…"))
        let wide = try await report(columns: 250, environment: environment)
        #expect(!wide.contains("…"))
        let pipe = try await report(columns: nil, environment: environment.merging(["COLUMNS": "40"]) { $1 })
        #expect(!pipe.contains("\u{1b}"))
        #expect(!pipe.contains("…"))
        #expect(pipe.contains("/products/{product}/reviews/of/the/last/month/by/people/who/bought/it"))
    }

    @Test func columnsVariableOverridesTheTerminalsWidth() async throws {
        let text = try await report(columns: 90, environment: ["COLUMNS": "250", "NO_COLOR": "1"])
        #expect(!text.contains("…"))
    }

    @Test func coloursFollowTheFlagThenNOCOLOR() async throws {
        let no = ["NO_COLOR": "1", "TERM": "xterm"]
        #expect(!(try await report(columns: 90, environment: no).contains("\u{1b}[")))
        #expect(try await report(["--color", "always"], columns: 90, environment: no).contains("\u{1b}[1m"))
        #expect(try await report(["--color", "always"], columns: nil).contains("\u{1b}[1m"))
        #expect(
            !(try await report(["--color", "never"], columns: 90, environment: ["TERM": "xterm"]).contains("\u{1b}[")))
        #expect(!(try await report(columns: 90, environment: ["TERM": "dumb"]).contains("\u{1b}[")))
    }

    @Test(arguments: [
        ("csv", "from,to,completeness,service,"), ("markdown", "4 of 4 requests failed"), ("json", "{\n"),
    ])
    func formatForProgramsIsTheSameEverywhere(format: String, start: String) async throws {
        let flags = ["--format", format, "--since", "2h", "--until", "0s", "--by", "service,endpoint"]
        let piped = try await report(flags, columns: nil)
        #expect(piped.hasPrefix(start))
        #expect(piped.contains("/payments"))
        let shown = try await report(flags, columns: 40, environment: ["TERM": "xterm"])
        #expect(!shown.contains("\u{1b}["))
        #expect(shown.contains("/products/{product}/reviews/of/the/last/month/by/people/who/bought/it"))
    }
}
