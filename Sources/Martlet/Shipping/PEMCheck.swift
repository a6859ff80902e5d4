import Foundation

/// A check of a PEM file (RFC 7468), which describes a fault more clearly than TLS does later.
enum PEMCheck {
    enum Content {
        case certificate
        case key
    }

    /// Returns the file's fault, a verb and more; `nil` if it has none.
    static func fault(of file: URL, needs content: Content) -> String? {
        var status = stat()
        // Reading a pipe would wait, and take bytes from libcurl.
        if stat(file.path, &status) == 0, status.st_mode & S_IFMT != S_IFREG { return "is not a regular file" }
        guard let bytes = try? FileHandle(forReadingFrom: file).read(upToCount: MartletLimits.pemFile) else {
            return "is missing or cannot be read"
        }
        let text = String(decoding: bytes, as: UTF8.self)
        switch content {
        case .certificate:
            return text.contains("-----BEGIN CERTIFICATE-----") ? nil : "holds no certificate in PEM"
        case .key:
            // A library must not ask for a passphrase.
            let isLocked = text.contains("BEGIN ENCRYPTED PRIVATE KEY") || text.contains("Proc-Type: 4,ENCRYPTED")
            return text.contains("PRIVATE KEY-----") && !isLocked ? nil : "holds no unencrypted private key in PEM"
        }
    }
}
