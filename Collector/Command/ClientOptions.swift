import ArgumentParser
import Foundation
import MartletReports

/// The collector to ask.
struct ClientOptions: ParsableArguments {
    @Option(help: "The URL of the collector to ask.")
    var collector = CollectorAddress.usual

    @Option(help: "The collector's read token; safer as the variable MARTLET_COLLECTOR_READ_TOKEN.")
    var readToken: String?

    @OptionGroup var tls: ClientTLS

    /// The flags that were given, for a command to copy; never the token.
    var flags: [CommandFlag] {
        let given = [
            ("collector", collector == CollectorAddress.usual ? nil : collector),
            ("certificate", tls.authorities), ("client-certificate", tls.clientCertificate),
            ("client-key", tls.clientKey),
        ]
        return given.compactMap { name, value in value.map { CommandFlag(name, $0) } }
    }

    func client() throws -> CollectorClient {
        let url = try Self.url(collector)
        let variables = ProcessInfo.processInfo.environment
        return CollectorClient(
            url: url, token: try CollectorEnvironment(variables).value(readToken, "READ_TOKEN"),
            tls: url.scheme == "https" ? try tls.configuration(variables) : nil)
    }

    static func url(_ text: String) throws -> URL {
        guard let url = URL(string: text), let scheme = url.scheme, ["http", "https"].contains(scheme),
            url.host != nil, hasPort(text)
        else {
            throw ValidationError(
                "--collector must be a URL, such as http://127.0.0.1:4318, with a port from 1 to 65535")
        }
        return url
    }

    /// Whether the port, if there is one, exists. Foundation takes a port that has no room in 64 bits for none.
    private static func hasPort(_ url: String) -> Bool {
        guard let range = URLComponents(string: url)?.rangeOfPort, !range.isEmpty else { return true }
        return Int(url[range]).map((1...65535).contains) ?? false
    }
}
