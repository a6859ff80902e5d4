import ArgumentParser
import Foundation
import MartletReports
import MartletServer
import NIOSSL

/// The collector that a command queries.
struct ClientOptions: ParsableArguments {
    @Option(help: "The URL of the collector to ask.")
    var collector = CollectorAddress.usual

    @Option(help: "The collector's read token; safer as the variable MARTLET_COLLECTOR_READ_TOKEN.")
    var readToken: String?

    @OptionGroup var tls: ClientTLS

    /// The flags that the user gave, for a command to copy. They never include the token.
    var flags: [CommandFlag] {
        let given = [
            ("collector", collector == CollectorAddress.usual ? nil : collector),
            ("certificate", tls.certificate), ("client-certificate", tls.clientCertificate),
            ("client-key", tls.clientKey),
        ]
        return given.compactMap { name, value in value.map { CommandFlag(name, $0) } }
    }

    func client() throws -> CollectorClient {
        let url = try Self.url(collector)
        return CollectorClient(
            url: url, token: try CollectorEnvironment().value(readToken, "read-token"),
            tls: url.scheme == "https" ? try tls.configuration(ProcessInfo.processInfo.environment) : nil)
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

    /// Whether the URL has no port or a valid one. Foundation ignores a port that does not fit in 64 bits.
    private static func hasPort(_ url: String) -> Bool {
        guard let range = URLComponents(string: url)?.rangeOfPort, !range.isEmpty else { return true }
        return Int(url[range]).map((1...65535).contains) ?? false
    }
}

/// The PEM files of the commands that query a collector over https.
struct ClientTLS: ParsableArguments {
    @Option(help: "PEM file with the certificate authorities to trust, instead of the system's.")
    var certificate: String?

    @Option(help: "PEM file with the client certificate, if the collector requires one.")
    var clientCertificate: String?

    @Option(
        help:
            "PEM file with the client certificate's private key, without a passphrase. (default: the certificate's file)"
    )
    var clientKey: String?

    /// Reads the PEM files. The flags name them, or `variables` do if a flag is missing.
    func configuration(_ variables: [String: String]) throws -> TLSConfiguration {
        let environment = CollectorEnvironment(variables)
        var configuration = TLSConfiguration.makeClientConfiguration()
        if let authorities = try environment.value(certificate, "certificate") {
            configuration.trustRoots = .certificates(
                try Self.read("certificate") { try PEMFile.certificates(authorities) })
        } else {
            try configuration.trust(systemsAuthorities: variables)
        }
        let file = try environment.value(clientCertificate, "client-certificate")
        let key = try environment.value(clientKey, "client-key")
        guard let file else {
            guard key == nil else { throw ValidationError("--client-key needs --client-certificate") }
            return configuration
        }
        let chain = try Self.read("client-certificate") { try PEMFile.certificates(file) }
        configuration.certificateChain = chain.map { .certificate($0) }
        configuration.privateKey = .privateKey(
            try Self.read(key == nil ? "client-certificate" : "client-key") { try PEMFile.privateKey(key ?? file) })
        return configuration
    }

    /// Returns the TLS configuration for connections to ClickHouse. It trusts the authorities of
    /// `MARTLET_CLICKHOUSE_CERTIFICATE`, or the system's if the variable is not set.
    static func ofClickHouse(_ variables: [String: String]) throws -> TLSConfiguration {
        let variable = "MARTLET_CLICKHOUSE_CERTIFICATE"
        var configuration = TLSConfiguration.makeClientConfiguration()
        guard let authorities = variables[variable], !authorities.isEmpty else {
            try configuration.trust(systemsAuthorities: variables)
            return configuration
        }
        configuration.trustRoots = .certificates(
            try naming(variable) { try PEMFile.certificates(authorities) })
        return configuration
    }

    /// Returns the TLS configuration for webhooks. It trusts the system's authorities.
    static func ofWebhooks(_ variables: [String: String]) throws -> TLSConfiguration {
        var configuration = TLSConfiguration.makeClientConfiguration()
        try configuration.trust(systemsAuthorities: variables)
        return configuration
    }

    private static func read<Content>(_ flag: String, _ read: () throws -> Content) throws -> Content {
        try naming("--\(flag) (\(CollectorEnvironment.variable(flag)))", read)
    }
}

/// Runs `read`. Any error becomes a sentence that begins with the setting that names the file.
private func naming<Content>(_ setting: String, _ read: () throws -> Content) throws -> Content {
    do { return try read() } catch { throw CollectorClient.Failure(description: "\(setting): \(error)") }
}

extension TLSConfiguration {
    /// Trusts the authorities of `SSL_CERT_FILE` and `SSL_CERT_DIR`. If only the file is set, also trusts the system's
    /// directory. OpenSSL and curl do the same.
    fileprivate mutating func trust(systemsAuthorities variables: [String: String]) throws {
        if let folder = variables["SSL_CERT_DIR"], !folder.isEmpty { trustRoots = .file(folder) }
        guard let file = variables["SSL_CERT_FILE"], !file.isEmpty else { return }
        additionalTrustRoots = [.certificates(try naming("SSL_CERT_FILE") { try PEMFile.certificates(file) })]
    }
}
