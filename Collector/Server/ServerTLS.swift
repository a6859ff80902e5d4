import NIOSSL

/// What the collector proves its name with. TLS 1.2 and 1.3 are spoken.
package struct ServerTLS: Sendable {
    let configuration: TLSConfiguration

    /// - Parameters:
    ///   - certificate: the path of a PEM file: the server's certificate, and after it those between it and a root.
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
                description: "the private key in \(key) is not that of the certificate in \(certificate)")
        }
        self.configuration = configuration
    }
}
