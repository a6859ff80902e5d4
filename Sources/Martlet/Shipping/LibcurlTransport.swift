import CMartletHooks
import Foundation
import MartletTelemetry

/// Posts over the libcurl that comes with `URLSession`. Nothing else links it.
final class LibcurlTransport: UploadTransport {
    private let uploader: OpaquePointer

    /// Makes the transport. ``EasyHandle/isAvailable`` has initialised libcurl on the thread that starts the agent,
    /// without making a session.
    ///
    /// - Returns: `nil` if libcurl is not among the process's symbols.
    init?() {
        guard let uploader = martlet_uploader_create() else { return nil }
        self.uploader = uploader
    }

    deinit { martlet_uploader_destroy(uploader) }

    /// Sets the files for all later uploads.
    func use(_ files: UploadTLS) {
        if let authorities = files.authorities {
            martlet_uploader_set_file(uploader, MARTLET_AUTHORITIES, authorities.path)
            // The system's directory would add its authorities to these.
            martlet_uploader_set_file(uploader, MARTLET_AUTHORITIES_DIRECTORY, nil)
        } else {
            if let file = files.systemFile { martlet_uploader_set_file(uploader, MARTLET_AUTHORITIES, file) }
            if let directory = files.systemDirectory {
                martlet_uploader_set_file(uploader, MARTLET_AUTHORITIES_DIRECTORY, directory)
            }
        }
        guard let certificate = files.clientCertificate else { return }
        martlet_uploader_set_file(uploader, MARTLET_CLIENT_CERTIFICATE, certificate.path)
        martlet_uploader_set_file(uploader, MARTLET_CLIENT_KEY, (files.clientKey ?? certificate).path)
    }

    func start(_ upload: Upload) {
        cancel()
        for (name, value) in upload.headers { _ = martlet_upload_add_header(uploader, "\(name): \(value)") }
        // An empty `Expect` saves a round trip before a large body.
        _ = martlet_upload_add_header(uploader, "Expect:")
        let milliseconds = Int64(clamping: upload.timeout.nanoseconds / 1_000_000)
        _ = martlet_upload_begin(
            uploader, upload.url, upload.proxy?.absoluteString ?? "", upload.body, upload.body.count, milliseconds)
    }

    func proceed(for duration: Duration) -> UploadEnd? {
        switch martlet_upload_proceed(uploader, Int32(clamping: duration.nanoseconds / 1_000_000)) {
        case MARTLET_UPLOAD_RUNNING: nil
        case MARTLET_UPLOAD_ANSWERED: .answered(answer)
        default:
            .failed(
                mayHaveArrived: martlet_upload_is_sent(uploader),
                reason: String(cString: martlet_upload_error(uploader)))
        }
    }

    private var answer: UploadAnswer {
        var body = [UInt8](repeating: 0, count: martlet_upload_body_length(uploader))
        martlet_upload_copy_body(uploader, &body)
        return UploadAnswer(
            status: martlet_upload_status(uploader),
            retryAfter: String(cString: martlet_upload_retry_after(uploader)),
            rejectedRequests: String(cString: martlet_upload_rejected_requests(uploader)),
            store: String(cString: martlet_upload_store(uploader)),
            contentType: String(cString: martlet_upload_content_type(uploader)), body: body)
    }

    func cancel() { martlet_upload_end(uploader) }

    func rest() { martlet_uploader_rest(uploader) }
}

/// The PEM files for https to the collector, in addition to or instead of the system's.
struct UploadTLS {
    /// The authorities that the collector's certificate may be signed by, instead of the system's; `nil` for the
    /// system's.
    let authorities: URL?
    let clientCertificate: URL?
    /// `nil` if the key is in the certificate's file.
    let clientKey: URL?
    /// `SSL_CERT_FILE` and `SSL_CERT_DIR`, which replace the system's, as in OpenSSL and curl.
    let systemFile: String?
    let systemDirectory: String?

    /// Takes the files from the configuration and the environment; none if no collector uses TLS.
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

    /// The variables that request something that `URLSession` on Linux cannot do.
    var variablesNeedingLibcurl: [String] {
        let given: [(String, Bool)] = [
            ("MARTLET_CERTIFICATE", authorities != nil), ("MARTLET_CLIENT_CERTIFICATE", clientCertificate != nil),
            ("SSL_CERT_FILE", authorities == nil && systemFile != nil),
            ("SSL_CERT_DIR", authorities == nil && systemDirectory != nil),
        ]
        return given.filter(\.1).map(\.0)
    }

    /// The current problems of the files, one sentence each. The files are read for each connection, so a file that is
    /// added or replaced later is used.
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

/// Checks a PEM file (RFC 7468). It describes a fault more clearly than TLS would later.
enum PEMCheck {
    enum Content {
        case certificate
        case key
    }

    /// Returns the file's fault, starting with a verb; `nil` if it has none.
    static func fault(of file: URL, needs content: Content) -> String? {
        var status = stat()
        // Reading a pipe would block, and would take bytes from libcurl.
        if stat(file.path, &status) == 0, status.st_mode & S_IFMT != S_IFREG { return "is not a regular file" }
        guard let bytes = try? FileHandle(forReadingFrom: file).read(upToCount: MartletLimits.pemFile) else {
            return "is missing or cannot be read"
        }
        let text = String(decoding: bytes, as: UTF8.self)
        switch content {
        case .certificate:
            return text.contains("-----BEGIN CERTIFICATE-----") ? nil : "contains no certificate in PEM"
        case .key:
            // A library must not ask for a passphrase.
            let isLocked = text.contains("BEGIN ENCRYPTED PRIVATE KEY") || text.contains("Proc-Type: 4,ENCRYPTED")
            return text.contains("PRIVATE KEY-----") && !isLocked ? nil : "contains no unencrypted private key in PEM"
        }
    }
}
