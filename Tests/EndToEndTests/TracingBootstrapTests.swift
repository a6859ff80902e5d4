import Fixtures
import Testing

/// The bootstrap of tracing. Each case has a separate process, because a second bootstrap in one process traps.
@Suite struct TracingBootstrapTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func run(
        _ before: String, environment: [String: String] = [:], endsWith expected: Int32 = 0
    ) async throws -> (lines: [String], errors: String) {
        let own = ["MARTLET_BUFFER_DIR": folder.path("buffer"), "MARTLET_ENDPOINT": "http://127.0.0.1:1"]
        let (status, output, errors) = try await ChildProcess(
            .tracerProgram, [before], environment: own.merging(environment) { $1 }
        ).finish()
        #expect(status == expected)
        return (output.split(separator: "\n").map(String.init), errors)
    }

    @Test func installedTracerServesEveryLaterAgent() async throws {
        let (lines, errors) = try await run("nothing")
        #expect(
            lines == ["MartletTracer records", "MartletTracer rests", "MartletTracer records", "MartletTracer rests"])
        #expect(!errors.contains("already"))
    }

    @Test func switchedOffAgentInstallsNoTracer() async throws {
        let (lines, _) = try await run("nothing", environment: ["MARTLET_ENABLED": "false"])
        #expect(lines == Array(repeating: "NoOpInstrument rests", count: 4))
    }

    @Test func serviceThatWantsNoTracerGetsNone() async throws {
        let (lines, _) = try await run("told-not-to")
        #expect(lines == Array(repeating: "NoOpInstrument rests", count: 4))
    }

    @Test func existingTracerStaysAndTheLogSaysSo() async throws {
        let (lines, errors) = try await run("bootstrapped")
        #expect(lines == Array(repeating: "OtherTracer rests", count: 4))
        #expect(errors.contains("Tracing is already bootstrapped with OtherTracer"))
        #expect(!errors.contains(Self.advice))
    }

    private static let advice = "set MARTLET_TRACING=false if the service bootstraps its own tracer"

    /// The trap of a second bootstrap does not name Martlet, so the agent logs a line before it.
    @Test func logSaysHowToKeepATracerBootstrappedLater() async throws {
        let trapped = try await run("later", endsWith: -1)
        #expect(trapped.errors.contains(Self.advice), "\(trapped.errors)")
        let (lines, errors) = try await run("later", environment: ["MARTLET_TRACING": "false"])
        #expect(lines == Array(repeating: "OtherTracer rests", count: 4))
        #expect(!errors.contains(Self.advice))
    }

    @Test(arguments: [("warning", 1), ("error", 0)])
    func adviceIsLoggedOnceAProcessAndNotIfWarningsAreOff(level: String, times: Int) async throws {
        let (_, errors) = try await run("nothing", environment: ["MARTLET_LOG_LEVEL": level])
        #expect(errors.components(separatedBy: Self.advice).count == times + 1, "\(errors)")
    }
}
