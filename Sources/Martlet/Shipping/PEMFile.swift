import Foundation

/// A look into a file in PEM (RFC 7468), so that what is wrong is said in words before TLS says it in its own.
enum PEMFile {
    enum Content {
        case certificate
        case key
    }

    /// The fault of the file, a verb and more; `nil` where there is none.
    static func fault(of file: URL, needs content: Content) -> String? {
        var status = stat()
        // Reading a pipe would wait, and take from libcurl what is read.
        if stat(file.path, &status) == 0, status.st_mode & S_IFMT != S_IFREG { return "is no regular file" }
        guard let bytes = try? FileHandle(forReadingFrom: file).read(upToCount: MartletLimits.pemFile) else {
            return "is missing or cannot be read"
        }
        let text = String(decoding: bytes, as: UTF8.self)
        switch content {
        case .certificate:
            return text.contains("-----BEGIN CERTIFICATE-----") ? nil : "holds no certificate in PEM"
        case .key:
            // Asking for a passphrase is not for a library.
            let isLocked = text.contains("BEGIN ENCRYPTED PRIVATE KEY") || text.contains("Proc-Type: 4,ENCRYPTED")
            return text.contains("PRIVATE KEY-----") && !isLocked
                ? nil : "holds no private key in PEM without a passphrase"
        }
    }
}
