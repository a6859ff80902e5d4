import ArgumentParser
import MartletReports
import MartletSQLiteStorage

/// The source of an answer: a collector, or a store's file.
struct SourceOptions: ParsableArguments {
    @OptionGroup var options: CollectorOptions

    @Option(help: "Read the store sqlite:PATH instead of asking a collector.")
    var store: String?

    /// The flags that were given, for a command to copy; never the token.
    var flags: [CommandFlag] { options.flags + (store.map { [CommandFlag("store", $0)] } ?? []) }

    /// Returns `nil` if a collector is to be asked.
    func openStore() throws -> SQLiteStorage? {
        guard let store else { return nil }
        return try SQLiteStorage(readingFrom: StoreLocation.path(store))
    }

    func client() throws -> CollectorClient { try options.client() }
}
