import ArgumentParser
import Foundation
import MartletReports
import MartletSQLiteStorage

/// The source of an answer: a collector, or a store's file.
struct SourceOptions: ParsableArguments {
    @Option(help: "The URL of the collector to ask.")
    var collector = "http://127.0.0.1:4318"

    @Option(help: "Read the store sqlite:PATH instead of asking a collector.")
    var store: String?

    @Option(help: "The collector's read token; safer as the variable MARTLET_COLLECTOR_READ_TOKEN.")
    var readToken: String?

    @OptionGroup var tls: CollectorTLS

    /// Returns `nil` if a collector is to be asked.
    func openStore() throws -> SQLiteStorage? {
        guard let store else { return nil }
        return try SQLiteStorage(readingFrom: StoreLocation.path(store))
    }

    func client() throws -> CollectorClient {
        guard let url = URL(string: collector), let scheme = url.scheme, ["http", "https"].contains(scheme),
            url.host != nil
        else { throw ValidationError("--collector must be a URL, such as http://127.0.0.1:4318") }
        let variables = ProcessInfo.processInfo.environment
        return CollectorClient(
            url: url, token: readToken ?? CollectorEnvironment(variables)["READ_TOKEN"],
            tls: scheme == "https" ? try tls.configuration(variables) : nil)
    }
}
