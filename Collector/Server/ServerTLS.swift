import Foundation
import HummingbirdTLS
import NIOSSL

/// What the collector proves its name with. TLS 1.2 and 1.3 are spoken.
package struct ServerTLS: Sendable {
    /// Why there is no TLS, in a sentence for the person who named the files.
    package struct Failure: Error, Equatable, CustomStringConvertible {
        package var description: String
    }

    let configuration: TLSConfiguration

    /// - Parameters:
    ///   - certificate: the path of a PEM file: the server's certificate, and after it those between it and a root.
    ///   - key: the path of a PEM file with the certificate's private key, without a passphrase.
    package init(certificate: String, key: String) throws(Failure) {
        let chain = try Self.read(certificate, "certificate") { try NIOSSLCertificate.fromPEMBytes($0) }
        let privateKey = try Self.read(key, "private key without a passphrase") { bytes in
            // Without a passphrase to try, BoringSSL asks for one on the terminal.
            try NIOSSLPrivateKey(bytes: bytes, format: .pem) { $0([UInt8]()) }
        }
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(privateKey))
        configuration.minimumTLSVersion = .tlsv12
        configuration.applicationProtocols = ["http/1.1"]
        do {
            _ = try NIOSSLContext(configuration: configuration)
        } catch {
            throw Failure(description: "the private key in \(key) is not that of the certificate in \(certificate)")
        }
        self.configuration = configuration
    }

    private static func read<Content>(
        _ path: String, _ content: String, _ parse: ([UInt8]) throws -> Content
    ) throws(Failure) -> Content {
        guard let bytes = try? Data(contentsOf: URL(fileURLWithPath: path)) else {
            throw Failure(description: "\(path) is missing or cannot be read")
        }
        guard let parsed = try? parse(Array(bytes)) else {
            throw Failure(description: "\(path) holds no \(content) in PEM")
        }
        return parsed
    }
}
