import ArgumentParser
import Foundation
import MartletClickHouseStorage
import MartletSQLiteStorage

struct Backup: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Copies the store to a new file, even while a collector uses it.",
        discussion: """
            The copy has everything that was acknowledged when the command started, and no free pages. Read it with --store, or put \
            it back with restore.
            """)

    @Argument(help: "The file to write. It must not exist.", completion: .file())
    var file: String

    @OptionGroup var store: StoreOption

    func run() throws {
        let bytes = try reportingFailure { try StoreBackup.backUp(try store.path(), to: file) }
        Output.line("wrote \(file) (\(ByteSize.text(bytes)))")
    }
}

struct Restore: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Replaces the store with a backup, and keeps the old store next to it.",
        discussion: "Stop the collector first. The command checks the backup and does not change it.")

    @Argument(help: "The file that backup wrote.", completion: .file())
    var file: String

    @OptionGroup var store: StoreOption

    func run() throws {
        let path = try store.path()
        let former = try reportingFailure { try StoreBackup.restore(file, to: path) }
        Output.line("restored \(path)" + (former.map { "; the old store is \($0)" } ?? ""))
    }
}

/// The store that a command works on: the one that `serve` would use.
struct StoreOption: ParsableArguments {
    @Option(
        help: "The store, sqlite:PATH. (default: collector.sqlite in $XDG_STATE_HOME/martlet or ~/.local/state/martlet)"
    )
    var store: String?

    func path() throws -> String {
        let chosen = store ?? CollectorEnvironment()["store"]
        return try chosen.map(StoreLocation.path) ?? StoreLocation.defaultPath()
    }
}

struct Migrate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Creates the tables of a store on ClickHouse, or upgrades them to this version.",
        discussion: """
            Its user must be allowed to create a database and tables: MARTLET_CLICKHOUSE_USER and MARTLET_CLICKHOUSE_PASSWORD. For \
            https, MARTLET_CLICKHOUSE_CERTIFICATE is a PEM file with the authorities to trust instead of the system's. \
            Collectors may use the store meanwhile, and a server of the cluster that has the tables may be down. A store in a file \
            does not need this command.
            """)

    @Option(help: "The store, clickhouse:http://HOST:8123/DATABASE.")
    var store: String?

    @Option(
        help: """
            A cluster of ClickHouse, by its name in the servers' configuration. Its tables are replicated and spread over its \
            shards. Later runs do not need it. (default: one server)
            """)
    var cluster: String?

    func run() async throws {
        guard let text = store ?? CollectorEnvironment()["store"],
            case .clickHouse(let location) = try StoreLocation(text)
        else { throw ValidationError("--store must be clickhouse:http://HOST:8123/DATABASE") }
        let isComplete = try await reportingFailure {
            try await Migration.run(at: location, StoreLocation.credentials(), cluster: cluster)
        }
        Output.line("\(location) has the tables of this version")
        if !isComplete {
            Output.line("a server of the cluster is down: run this again later if it is new or lost its disk")
        }
    }
}
