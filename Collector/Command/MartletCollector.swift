import ArgumentParser

/// Exit codes: 0 success; 1 a limit of `check` does not hold, or `health` found none; 2 no store, no collector to ask, no room for the answer, or an
/// answer that leaves a limit of `check` open; 64 a flag that cannot be understood or asks for too much.
@main
struct MartletCollector: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "martlet-collector",
        abstract: "Receives data about HTTP requests from Martlet agents and OpenTelemetry senders, and reports on it.",
        subcommands: [
            Serve.self, ReportCommand.self, Check.self, RequestsCommand.self, Top.self, MapCommand.self, Agents.self,
            Backup.self, Restore.self, Migrate.self, Copy.self, Health.self,
        ],
        defaultSubcommand: Serve.self)
}
