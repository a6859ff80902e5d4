#if os(Linux)
import Foundation
import FoundationNetworking
import MartletTelemetry

/// `error.type` of a request that got no response: a small, fixed set.
enum ErrorType: String {
    case dns
    case connectionRefused = "connection_refused"
    case connectionReset = "connection_reset"
    case timeout
    case tls
    case tooManyRedirects = "too_many_redirects"
    case invalidRequest = "invalid_request"
    case invalidResponse = "invalid_response"
    case cancelled
    /// The semantic conventions' name for anything else.
    case other = "_OTHER"

    init(of error: any Error) {
        let error = error as NSError
        self = error.domain == NSURLErrorDomain ? Self.named(error.code) : .other
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
