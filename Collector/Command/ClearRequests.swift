import ArgumentParser
import MartletReports

struct ClearRequests: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clear",
        abstract: "Deletes all kept requests and spans of the collector. The counts stay.")

    @OptionGroup var source: ClientOptions

    @Flag(help: "Delete without asking.")
    var yes = false

    func run() async throws {
        guard try yes || isConfirmed() else { return Output.line("Nothing was deleted.") }
        let removal: RemovalReport = try await reportingFailure { try await source.client().delete("api/v1/requests") }
        Output.line("deleted \(removal.removed) kept requests and spans")
    }

    /// Asks the person at the terminal. Without an answer the command fails: a script's standard input may be closed.
    private func isConfirmed() throws -> Bool {
        Output.line("This deletes all kept requests and spans at \(source.collector). Type yes to go on:")
        guard let answer = readLine() else {
            Output.error("nothing was deleted, because nobody answered; --yes deletes without asking")
            throw ExitCode.failure
        }
        return answer == "yes"
    }
}
