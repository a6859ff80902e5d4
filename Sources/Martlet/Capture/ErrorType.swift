#if os(Linux)
import Foundation
import FoundationNetworking

/// `error.type` of a request that got no response: a small, fixed set.
enum ErrorType: String {
    case dns
    case connectionRefused = "connection_refused"
    /// No route, an unreachable network, …
    case connectionFailed = "connection_failed"
    case connectionReset = "connection_reset"
    case timeout
    case tls
    case tooManyRedirects = "too_many_redirects"
    case invalidRequest = "invalid_request"
    case invalidResponse = "invalid_response"
    case cancelled
    /// In flight for longer than `MARTLET_HUNG`.
    case hung
    /// The semantic conventions' name for anything else.
    case other = "_OTHER"

    init(of error: any Error) {
        let error = error as NSError
        guard error.domain == NSURLErrorDomain else {
            self = .other
            return
        }
        self = error.code == NSURLErrorUnknown ? Self.named(error.localizedDescription) : Self.named(error.code)
    }

    /// Foundation has no code for much of what libcurl tells apart, and leaves its text (libcurl, lib/strerror.c and the
    /// error buffer).
    private static func named(_ text: String) -> ErrorType {
        let texts: [(String, ErrorType)] = [
            ("SSL", .tls), ("certificate", .tls), ("TLS", .tls), ("reset by peer", .connectionReset),
            ("Broken pipe", .connectionReset), ("connect to", .connectionFailed),
            ("redirects followed", .tooManyRedirects),
            ("timed out", .timeout), ("transfer closed", .invalidResponse), ("HTTP", .invalidResponse),
        ]
        return texts.first { text.contains($0.0) }?.1 ?? .other
    }

    private static func named(_ code: Int) -> ErrorType {
        switch code {
        case NSURLErrorCannotFindHost, NSURLErrorDNSLookupFailed: .dns
        case NSURLErrorCannotConnectToHost: .connectionRefused
        case NSURLErrorNetworkConnectionLost: .connectionReset
        case NSURLErrorTimedOut: .timeout
        case NSURLErrorSecureConnectionFailed, NSURLErrorServerCertificateHasBadDate,
            NSURLErrorServerCertificateUntrusted, NSURLErrorServerCertificateHasUnknownRoot,
            NSURLErrorServerCertificateNotYetValid, NSURLErrorClientCertificateRejected,
            NSURLErrorClientCertificateRequired:
            .tls
        case NSURLErrorHTTPTooManyRedirects, NSURLErrorRedirectToNonExistentLocation: .tooManyRedirects
        case NSURLErrorBadURL, NSURLErrorUnsupportedURL: .invalidRequest
        case NSURLErrorBadServerResponse, NSURLErrorCannotParseResponse, NSURLErrorCannotDecodeContentData,
            NSURLErrorCannotDecodeRawData, NSURLErrorZeroByteResource:
            .invalidResponse
        case NSURLErrorCancelled, NSURLErrorUserCancelledAuthentication: .cancelled
        default: .other
        }
    }
}
#endif
