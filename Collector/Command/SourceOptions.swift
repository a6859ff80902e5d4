import ArgumentParser
import MartletReports
import MartletStorage

/// The source of an answer: a collector, or a store.
struct SourceOptions: ParsableArguments {
    @OptionGroup var options: ClientOptions

    @Option(help: "Read the store, sqlite:PATH or clickhouse:http://HOST:8123/DATABASE, instead of asking a collector.")
    var store: String?

    /// The flags that were given, for a command to copy; never the token.
    var flags: [CommandFlag] { options.flags + (store.map { [CommandFlag("store", $0)] } ?? []) }

    /// Returns `nil` if a collector is to be asked.
    func openStore() async throws -> (any Storage)? {
        guard let store else { return nil }
        return try await StoreLocation(store).openForReading()
    }

    func client() throws -> CollectorClient { try options.client() }
}
