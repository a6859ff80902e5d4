import Foundation

/// The PEM files for https to the collector, beside the system's.
struct UploadTLS {
    /// The authorities that may have signed the collector's certificate, in place of the system's; `nil` for the system's.
    let authorities: URL?
    let clientCertificate: URL?
    /// `nil` if the key is in the certificate's file.
    let clientKey: URL?
    /// `SSL_CERT_FILE` and `SSL_CERT_DIR`, which replace the system's, as in OpenSSL and curl.
    let systemFile: String?
    let systemDirectory: String?

    /// Takes the files from the configuration and the environment, or none if no collector has TLS.
    init(
        _ configuration: MartletConfiguration, environment: [String: String] = ProcessInfo.processInfo.environment
    ) {
        let isNeeded = configuration.collectors.contains { $0.scheme?.lowercased() == "https" }
        authorities = isNeeded ? configuration.certificate : nil
        clientCertificate = isNeeded ? configuration.clientCertificate : nil
        clientKey = isNeeded ? configuration.clientKey : nil
        let variable = { (name: String) in isNeeded ? environment[name].flatMap { $0.isEmpty ? nil : $0 } : nil }
        systemFile = variable("SSL_CERT_FILE")
        systemDirectory = variable("SSL_CERT_DIR")
    }

    /// The variables that ask for something that `URLSession` on Linux cannot do.
    var variablesNeedingLibcurl: [String] {
        let given: [(String, Bool)] = [
            ("MARTLET_CERTIFICATE", authorities != nil), ("MARTLET_CLIENT_CERTIFICATE", clientCertificate != nil),
            ("SSL_CERT_FILE", authorities == nil && systemFile != nil),
            ("SSL_CERT_DIR", authorities == nil && systemDirectory != nil),
        ]
        return given.filter(\.1).map(\.0)
    }

    /// The faults of the files now, a sentence each. The files are read for each connection, so that one which comes later,
    /// or is replaced, is used.
    var complaints: [String] {
        var complaints = [
            complaint("MARTLET_CERTIFICATE", authorities, needs: .certificate),
            complaint("MARTLET_CLIENT_CERTIFICATE", clientCertificate, needs: .certificate),
        ]
        let key = clientKey == nil ? "MARTLET_CLIENT_CERTIFICATE" : "MARTLET_CLIENT_KEY"
        if clientCertificate == nil, clientKey != nil {
            complaints.append("MARTLET_CLIENT_KEY needs MARTLET_CLIENT_CERTIFICATE")
        } else if complaints[1] == nil || clientKey != nil {
            complaints.append(complaint(key, clientKey ?? clientCertificate, needs: .key))
        }
        return complaints.compactMap(\.self)
    }

    private func complaint(_ variable: String, _ file: URL?, needs: PEMCheck.Content) -> String? {
        guard let file, let fault = PEMCheck.fault(of: file, needs: needs) else { return nil }
        return
            "\(variable): \(file.path) \(fault); if the collector needs it, batches wait in the buffer until it is fixed"
    }
}
