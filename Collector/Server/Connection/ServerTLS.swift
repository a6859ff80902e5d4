import Foundation
import NIOSSL
import Synchronization

/// The certificate and private key that prove the collector's name. They come from two files that can be reloaded while the
/// collector runs. The collector speaks TLS 1.2 and 1.3. Safe to use from any task.
package final class ServerTLS: Sendable {
    fileprivate struct Identity {
        let chain: [NIOSSLCertificateSource]
        let key: NIOSSLPrivateKeySource
    }

    private let certificate: String
    private let key: String
    /// The identity of the next handshake.
    private let identity: Mutex<Identity>

    /// - Parameters:
    ///   - certificate: the path of a PEM file with the server's certificate, followed by the certificates between it and
    ///     a root.
    ///   - key: the path of a PEM file with the certificate's private key, without a passphrase.
    package init(certificate: String, key: String) throws(FileFailure) {
        (self.certificate, self.key) = (certificate, key)
        identity = Mutex(try Identity(certificate: certificate, key: key))
    }

    /// Reloads both files for later handshakes. After an error the current certificate stays in use.
    package func reload() throws(FileFailure) {
        let read = try Identity(certificate: certificate, key: key)
        identity.withLock { $0 = read }
    }

    var configuration: TLSConfiguration {
        var configuration = identity.withLock(\.self).configuration
        configuration.sslContextCallback = { _, promise in
            let identity = self.identity.withLock(\.self)
            var present = NIOSSLContextConfigurationOverride()
            present.certificateChain = identity.chain
            present.privateKey = identity.key
            promise.succeed(present)
        }
        return configuration
    }
}

extension ServerTLS.Identity {
    /// Checks that both files belong together.
    fileprivate init(certificate: String, key: String) throws(FileFailure) {
        chain = try PEMFile.certificates(certificate).map { .certificate($0) }
        self.key = .privateKey(try PEMFile.privateKey(key))
        do {
            _ = try NIOSSLContext(configuration: configuration)
        } catch {
            throw FileFailure(
                description: "the private key in \(key) does not belong to the certificate in \(certificate)")
        }
    }

    fileprivate var configuration: TLSConfiguration {
        var configuration = TLSConfiguration.makeServerConfiguration(certificateChain: chain, privateKey: key)
        configuration.minimumTLSVersion = .tlsv12
        configuration.applicationProtocols = ["http/1.1"]
        return configuration
    }
}

/// A fault of a file, as a sentence for the user who named the file. It quotes nothing from the file.
package struct FileFailure: Error, CustomStringConvertible {
    package var description: String
}

extension Data {
    package init(ofFile path: String) throws(FileFailure) {
        guard let data = try? Data(contentsOf: URL(fileURLWithPath: path)) else {
            throw FileFailure(description: "\(path) is missing or cannot be read")
        }
        self = data
    }
}

/// The contents of PEM files, read once.
package enum PEMFile {
    package static func certificates(_ path: String) throws(FileFailure) -> [NIOSSLCertificate] {
        try read(path, "certificate") { try NIOSSLCertificate.fromPEMBytes($0) }
    }

    package static func privateKey(_ path: String) throws(FileFailure) -> NIOSSLPrivateKey {
        try read(path, "unencrypted private key") { bytes in
            // Without a passphrase to try, BoringSSL would ask for one on the terminal.
            try NIOSSLPrivateKey(bytes: bytes, format: .pem) { $0([UInt8]()) }
        }
    }

    private static func read<Content>(
        _ path: String, _ content: String, _ parse: ([UInt8]) throws -> Content
    ) throws(FileFailure) -> Content {
        let bytes = Array(try Data(ofFile: path))
        guard let parsed = try? parse(bytes) else {
            throw FileFailure(description: "\(path) contains no \(content) in PEM")
        }
        return parsed
    }
}
