import NIOSSL
import Synchronization

/// The certificate and private key that prove the collector's name, from two files that may be read again while the collector
/// runs. The collector speaks TLS 1.2 and 1.3. Safe to use from any task.
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
    package init(certificate: String, key: String) throws(PEMFile.Failure) {
        (self.certificate, self.key) = (certificate, key)
        identity = Mutex(try Identity(certificate: certificate, key: key))
    }

    /// Reads both files again, for handshakes from now on. An error leaves the present certificate in use.
    package func reload() throws(PEMFile.Failure) {
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
    fileprivate init(certificate: String, key: String) throws(PEMFile.Failure) {
        chain = try PEMFile.certificates(certificate).map { .certificate($0) }
        self.key = .privateKey(try PEMFile.privateKey(key))
        do {
            _ = try NIOSSLContext(configuration: configuration)
        } catch {
            throw PEMFile.Failure(
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
