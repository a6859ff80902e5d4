import ArgumentParser
import Foundation
import MartletServer
import NIOSSL

/// The PEM files of the commands that ask a collector over https.
struct ClientTLS: ParsableArguments {
    @Option(
        name: .customLong("certificate"),
        help: "PEM file with the certificate authorities to trust, instead of the system's.")
    var authorities: String?

    @Option(help: "PEM file with the client certificate, for a collector that asks for one.")
    var clientCertificate: String?

    @Option(
        help:
            "PEM file with the client certificate's private key, without a passphrase. (default: the certificate's file)"
    )
    var clientKey: String?

    /// Reads the files that the flags name; without a flag, the file that `variables` name.
    func configuration(_ variables: [String: String]) throws -> TLSConfiguration {
        let environment = CollectorEnvironment(variables)
        var configuration = TLSConfiguration.makeClientConfiguration()
        if let authorities = try environment.value(authorities, "CERTIFICATE") {
            let certificates = try Self.named("CERTIFICATE") { try PEMFile.certificates(authorities) }
            configuration.trustRoots = .certificates(certificates)
        } else {
            try configuration.trust(systemsAuthorities: variables)
        }
        let certificate = try environment.value(clientCertificate, "CLIENT_CERTIFICATE")
        let key = try environment.value(clientKey, "CLIENT_KEY")
        guard let certificate else {
            guard key == nil else { throw ValidationError("--client-key needs --client-certificate") }
            return configuration
        }
        let chain = try Self.named("CLIENT_CERTIFICATE") { try PEMFile.certificates(certificate) }
        configuration.certificateChain = chain.map { .certificate($0) }
        configuration.privateKey = .privateKey(
            try Self.named(key == nil ? "CLIENT_CERTIFICATE" : "CLIENT_KEY") {
                try PEMFile.privateKey(key ?? certificate)
            })
        return configuration
    }

    /// Returns the configuration of connections to ClickHouse, which trust the authorities of `MARTLET_CLICKHOUSE_CERTIFICATE`,
    /// without it the system's.
    static func ofClickHouse(_ variables: [String: String]) throws -> TLSConfiguration {
        let variable = "MARTLET_CLICKHOUSE_CERTIFICATE"
        var configuration = TLSConfiguration.makeClientConfiguration()
        guard let authorities = variables[variable], !authorities.isEmpty else {
            try configuration.trust(systemsAuthorities: variables)
            return configuration
        }
        do { configuration.trustRoots = .certificates(try PEMFile.certificates(authorities)) } catch {
            throw CollectorClient.Failure(description: "\(variable): \(error)")
        }
        return configuration
    }

    private static func named<Content>(_ variable: String, _ read: () throws -> Content) throws -> Content {
        do { return try read() } catch {
            let flag = variable.lowercased().replacing("_", with: "-")
            throw CollectorClient.Failure(description: "--\(flag) (MARTLET_COLLECTOR_\(variable)): \(error)")
        }
    }
}

extension TLSConfiguration {
    /// Trusts the authorities of `SSL_CERT_FILE` and `SSL_CERT_DIR`, as OpenSSL and curl do. If only the file is set, the
    /// system's directory is trusted as well, as they do.
    fileprivate mutating func trust(systemsAuthorities variables: [String: String]) throws {
        if let folder = variables["SSL_CERT_DIR"], !folder.isEmpty { trustRoots = .file(folder) }
        guard let file = variables["SSL_CERT_FILE"], !file.isEmpty else { return }
        do { additionalTrustRoots = [.certificates(try PEMFile.certificates(file))] } catch {
            throw CollectorClient.Failure(description: "SSL_CERT_FILE: \(error)")
        }
    }
}
