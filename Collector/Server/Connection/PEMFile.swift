import Foundation
import NIOSSL

/// The contents of files in PEM, read once.
package enum PEMFile {
    /// A fault of a file, in a sentence for the person who named the file.
    package struct Failure: Error, Equatable, CustomStringConvertible {
        package var description: String
    }

    package static func certificates(_ path: String) throws(Failure) -> [NIOSSLCertificate] {
        try read(path, "certificate") { try NIOSSLCertificate.fromPEMBytes($0) }
    }

    package static func privateKey(_ path: String) throws(Failure) -> NIOSSLPrivateKey {
        try read(path, "unencrypted private key") { bytes in
            // Without a passphrase to try, BoringSSL asks for one on the terminal.
            try NIOSSLPrivateKey(bytes: bytes, format: .pem) { $0([UInt8]()) }
        }
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
