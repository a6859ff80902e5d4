import ArgumentParser
import MartletReports
import MartletStorage

/// Exit codes: 0 success; 1 a limit of `check` does not hold, or `health` found none; 2 no store, no collector to ask, no room for the answer, or an
/// answer that leaves a limit of `check` open; 64 a flag that cannot be understood or asks for too much.
@main
struct MartletCollector: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "martlet-collector",
        abstract: "Receives data about HTTP requests from Martlet agents and OpenTelemetry senders, and reports on it.",
        subcommands: [
            Serve.self, ReportCommand.self, Check.self, RequestsCommand.self, Top.self, MapCommand.self, Agents.self,
            Backup.self, Restore.self, Migrate.self, Health.self,
        ],
        defaultSubcommand: Serve.self)
}

extension ExitCode {
    /// The store or the collector is missing or does not answer, the answer cannot be written, or it leaves open whether a
    /// limit holds.
    static let unavailable = ExitCode(2)
}

/// Runs `body`. An error in the flags becomes a `ValidationError`. Any other error is printed as a sentence that begins with
/// `context`. Its exit code is 1 for a request that is not kept, and 2 otherwise.
func reportingFailure<Value>(_ context: String = "", _ body: () throws -> Value) throws -> Value {
    do {
        return try body()
    } catch {
        throw exit(for: error, context)
    }
}

func reportingFailure<Value>(_ context: String = "", _ body: () async throws -> Value) async throws -> Value {
    do {
        return try await body()
    } catch {
        throw exit(for: error, context)
    }
}

private func exit(for error: any Error, _ context: String) -> any Error {
    switch error {
    case let error as ParameterError: return ValidationError(error.description)
    case let error as TooManyGroups: return ValidationError(error.description)
    case is ValidationError, is ExitCode: return error
    default:
        Output.error("\(context)\(error)")
        if error is UnknownRequest { return ExitCode.failure }
        return (error as? CollectorClient.Failure)?.code ?? ExitCode.unavailable
    }
}
