import ArgumentParser
import Foundation

/// The collector to ask.
struct CollectorOptions: ParsableArguments {
    @Option(help: "The URL of the collector to ask.")
    var collector = "http://127.0.0.1:4318"

    @Option(help: "The collector's read token; safer as the variable MARTLET_COLLECTOR_READ_TOKEN.")
    var readToken: String?

    @OptionGroup var tls: CollectorTLS

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
