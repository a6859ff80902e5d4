import NIOSSL

/// The certificate and private key that prove the collector's name. The collector speaks TLS 1.2 and 1.3.
package struct ServerTLS: Sendable {
    let configuration: TLSConfiguration

    /// - Parameters:
    ///   - certificate: the path of a PEM file with the server's certificate, followed by the certificates between it and
    ///     a root.
    ///   - key: the path of a PEM file with the certificate's private key, without a passphrase.
    package init(certificate: String, key: String) throws(PEMFile.Failure) {
        let chain = try PEMFile.certificates(certificate)
        let privateKey = try PEMFile.privateKey(key)
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(privateKey))
        configuration.minimumTLSVersion = .tlsv12
        configuration.applicationProtocols = ["http/1.1"]
        do {
            _ = try NIOSSLContext(configuration: configuration)
        } catch {
            throw PEMFile.Failure(
                description: "the private key in \(key) does not belong to the certificate in \(certificate)")
        }
        self.configuration = configuration
    }
}
