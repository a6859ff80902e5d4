import ArgumentParser
import MartletReports
import MartletStorage
import MartletTelemetry

/// Exit codes: 0 for success; 1 if a limit of `check` is exceeded, or if `health` finds no collector; 2 if there is no store,
/// no collector answers, or the answer cannot be written; 64 if a flag is invalid or asks for too much. For `check`, 2 means that
/// there is not enough data, and 3 that there is no answer.
@main
struct MartletCollector: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "martlet-collector",
        abstract: "Receives data about HTTP requests from Martlet agents and OpenTelemetry senders, and reports on it.",
        version: MartletVersion.current,
        subcommands: [
            Serve.self, FindingsCommand.self, ReportCommand.self, Check.self, RequestsCommand.self, Top.self,
            MapCommand.self, Agents.self, Backup.self, Restore.self, Migrate.self, Health.self, Notify.self,
        ],
        defaultSubcommand: Serve.self)
}

extension ExitCode {
    /// The store or the collector is missing or does not answer, the answer cannot be written, or there is not enough data to
    /// check a limit.
    static let unavailable = ExitCode(2)
    /// The store or the collector of a check is missing or does not answer.
    static let unanswered = ExitCode(3)
}

/// Runs `body`. An error in the flags becomes a `ValidationError`. Any other error is printed as a sentence that begins with
/// `context`. The exit code is 1 if the error is about a request that is not kept, and 2 otherwise.
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
