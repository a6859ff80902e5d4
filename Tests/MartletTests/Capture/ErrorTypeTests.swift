#if os(Linux)
import Foundation
import FoundationNetworking
import Testing

@testable import Martlet

/// The type of an error for which Foundation has no code, by the text of libcurl.
@Suite struct ErrorTypeTests {
    /// The texts are those of libcurl 7.88 and 8.14.
    @Test(
        arguments: [
            ("SSL certificate problem: self-signed certificate", .tls),
            ("SSL: no alternative certificate subject name matches target host name 'h'", .tls),
            ("TLS connect error: error:0A000126:SSL routines::unexpected eof while reading", .connectionReset),
            ("OpenSSL SSL_connect: Connection reset by peer in connection to h:443 ", .connectionReset),
            ("Failed to connect to h port 81 after 2 ms: Couldn't connect to server", .connectionFailed),
            ("CONNECT tunnel failed, response 403", .connectionFailed),
            ("Could not resolve host: h", .dns),
            ("transfer closed with 5 bytes remaining to read", .invalidResponse),
            ("something new", .other),
        ] as [(String, ErrorType)])
    func textOfLibcurlShowsTheType(text: String, type: ErrorType) {
        #expect(errorType(text) == type)
    }

    /// A host may have any name.
    @Test(arguments: ["certificate.example.com", "TLS", "SSL.example", "CONNECT", "HTTP"])
    func nameOfTheHostShowsNoType(host: String) {
        #expect(
            errorType("Failed to connect to \(host) port 81 after 2 ms: Couldn't connect to server")
                == .connectionFailed)
        #expect(errorType("Could not resolve host: \(host)") == .dns)
    }

    private func errorType(_ text: String) -> ErrorType {
        let info = [NSLocalizedDescriptionKey: text]
        return ErrorType(
            of: NSError(domain: NSURLErrorDomain, code: NSURLErrorUnknown, userInfo: info), isAnswered: false)
    }
}
#endif
