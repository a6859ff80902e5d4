import ArgumentParser
import Foundation
import MartletReports
import MartletSQLiteStorage

/// The source of an answer: a collector, or a store's file.
struct SourceOptions: ParsableArguments {
    private static let defaultCollector = "http://127.0.0.1:4318"

    @Option(help: "The collector to ask.")
    var collector = Self.defaultCollector

    @Option(help: "sqlite:PATH, to read a store's file instead of asking a collector.")
    var store: String?

    @Option(help: "The collector's read token; safer as MARTLET_COLLECTOR_READ_TOKEN.")
    var readToken: String?

    @OptionGroup var tls: CollectorTLS

    /// The flags that were given, for a command to copy; never the token.
    var flags: [CommandFlag] {
        let given = [
            ("collector", collector == Self.defaultCollector ? nil : collector), ("store", store),
            ("certificate", tls.authorities), ("client-certificate", tls.clientCertificate),
            ("client-key", tls.clientKey),
        ]
        return given.compactMap { name, value in value.map { CommandFlag(name, $0) } }
    }

    /// Returns `nil` if a collector is to be asked.
    func openStore() throws -> SQLiteStorage? {
        guard let store else { return nil }
        return try SQLiteStorage(readingFrom: StoreLocation.path(store))
    }

    func client() throws -> CollectorClient {
        guard let url = URL(string: collector), let scheme = url.scheme, ["http", "https"].contains(scheme),
            url.host != nil
        else { throw ValidationError("--collector is a URL such as http://127.0.0.1:4318") }
        let variables = ProcessInfo.processInfo.environment
        return CollectorClient(
            url: url, token: readToken ?? CollectorEnvironment(variables)["READ_TOKEN"],
            tls: scheme == "https" ? try tls.configuration(variables) : nil)
    }
}
