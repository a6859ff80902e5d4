import Fixtures
import Foundation
import Testing

@Suite struct CompletionTests {
    private func script(for shell: String) async throws -> String {
        let result = try await ChildProcess(.martletCollector, ["--generate-completion-script", shell]).finish()
        #expect(result.status == 0)
        return result.output
    }

    @Test(arguments: ["bash", "zsh", "fish"])
    func eachShellGetsAScriptWithTheCommands(shell: String) async throws {
        let script = try await script(for: shell)
        for word in ["findings", "new-error", "report", "requests", "top", "map", "agents", "notify", "markdown"] {
            #expect(script.contains(word))
        }
    }

    /// The shell itself completes a word.
    @Test func bashCompletesASubcommand() async throws {
        let bash = ChildProcess.Program(url: URL(fileURLWithPath: "/bin/bash"))
        let line = """
            \(try await script(for: "bash"))
            COMP_WORDS=(martlet-collector requ); COMP_CWORD=1; COMP_LINE="martlet-collector requ"; COMP_POINT=22
            $(complete -p martlet-collector | sed -E 's/.* -F ([^ ]+).*/\\1/') martlet-collector requ martlet-collector
            echo "${COMPREPLY[@]}"
            """
        let result = try await ChildProcess(bash, ["-c", line], environment: ["PATH": "/usr/bin:/bin"]).finish()
        #expect(result.output == "requests\n", "\(result.errors)")
    }
}
