import AsyncHTTPClient
import Foundation
import NIOCore
import NIOPosix
import NIOSSL

/// Describes for a person why a connection or its answer failed.
enum ConnectionFault {
    /// - Parameter isTLS: whether the collector's address begins with `https`.
    static func reason(_ error: any Error, isTLS: Bool) -> String {
        let text = "\(error)"
        switch error {
        case let error as NIOConnectionError:
            return error.connectionErrors.first.map { reason($0.error, isTLS: isTLS) } ?? "\(error.host) has no address"
        case let error as IOError:
            return String(cString: strerror(error.errnoCode))
        case let error as HTTPClientError where error == .remoteConnectionClosed && !isTLS:
            return "it closes the connection without an answer; with TLS, a collector's address begins with https://"
        case let error as HTTPClientError:
            return error.shortDescription
        case is NIOSSLError, is NIOSSLExtraError, is BoringSSLError:
            return tls(text)
        default: return text
        }
    }

    /// Recognizes errors by their text.
    private static func tls(_ text: String) -> String {
        if text.contains("CERTIFICATE_VERIFY_FAILED") {
            return
                "the collector's certificate is not signed by a trusted authority; name the authority's file with --certificate"
        }
        if text.contains("failedToValidateHostname") { return "the collector's certificate is for another host name" }
        if text.contains("CERTIFICATE_REQUIRED") || text.contains("HANDSHAKE_FAILURE") {
            return "the collector requires a client certificate; give one with --client-certificate"
        }
        if text.contains("WRONG_VERSION_NUMBER") { return "it answers without TLS; its address begins with http://" }
        return text
    }
}
