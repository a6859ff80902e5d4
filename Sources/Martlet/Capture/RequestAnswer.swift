#if os(Linux)
import Foundation
import FoundationNetworking
import MartletTelemetry

/// The end of a request as its loader reports it: a response or an error. A class, so that passing it on copies
/// nothing.
final class RequestAnswer: Sendable {
    /// The time of the end in nanoseconds, by the monotonic clock.
    let time = Clock.monotonic()
    let response: HTTPURLResponse?
    let error: ErrorType?
    /// The error's description; `nil` without an error.
    let message: String?
    let figures: TransferFigures?
    /// The body that the loader passed to its client; `nil` for none, and if bodies are not kept.
    let body: Data?

    /// - Parameters:
    ///   - isTimed: whether libcurl is asked for the times of the phases.
    ///   - firstByte: see ``TransferFigures``.
    init(
        response: HTTPURLResponse?, error: (any Error)?, handle: EasyHandle?, body: Data?, isTimed: Bool,
        firstByte: UInt64? = nil
    ) {
        self.response = response
        let figures = handle?.figures(isTimed: isTimed, firstByte: firstByte)
        let isAnswered = response != nil || figures.map { $0.bytesReceived > 0 } == true
        self.error = error.map { ErrorType(of: $0, isAnswered: isAnswered) }
        message = error.map { ($0 as NSError).localizedDescription }
        self.figures = figures
        self.body = body
    }

    /// Makes the answer of a hung request.
    ///
    /// - Parameter challenge: the authentication challenge; `nil` if there was none.
    init(hungAfter challenge: RequestAnswer?) {
        response = challenge?.response
        error = .hung
        message = challenge?.message
        figures = nil
        body = challenge?.body
    }

    /// The response's status; `nil` if an error came instead of the response or during it. A hung request may have a
    /// response.
    var status: Int? { error == nil || error == .hung ? response?.statusCode : nil }

    /// The attribute `error.type`; `nil` for a success. A status of 4xx or 5xx is its own type (semantic conventions, "HTTP
    /// Spans").
    var errorName: String? { error?.rawValue ?? status.flatMap { $0 >= 400 ? String($0) : nil } }
}

/// The values of `error.type` for requests that got no response: a small, fixed set. `docs/capture.md` has it as a table.
enum ErrorType: String, CaseIterable {
    case dns
    case connectionRefused = "connection_refused"
    /// No route, an unreachable network, a proxy that refuses its tunnel, …
    case connectionFailed = "connection_failed"
    /// The peer closed the connection before it answered, or reset it while it answered.
    ///
    /// A close without an answer counts as a reset: which of the two the service sees depends on whether the peer had
    /// already read its request. AsyncHTTPClient's `remoteConnectionClosed` covers both as well.
    case connectionReset = "connection_reset"
    case timeout
    case tls
    case tooManyRedirects = "too_many_redirects"
    /// A request that cannot be sent: a URL without a host, a scheme that nothing loads, a GET with a body, a file that is
    /// not there.
    case invalidRequest = "invalid_request"
    /// An answer that is not HTTP, contradicts itself or is truncated.
    case invalidResponse = "invalid_response"
    case cancelled
    /// A request in flight for longer than `MARTLET_HUNG`.
    case hung
    /// Any other error. The text is ``RequestDimensions/otherMethodOrError``, because a raw value has to be a literal.
    case other = "_OTHER"

    /// - Parameter isAnswered: whether part of the answer came before the error.
    init(of error: any Error, isAnswered: Bool) {
        let error = error as NSError
        guard error.domain == NSURLErrorDomain else {
            self = .other
            return
        }
        self = Self.named(error.code, error.localizedDescription, isAnswered: isAnswered)
    }

    private static func named(_ code: Int, _ text: String, isAnswered: Bool) -> ErrorType {
        switch code {
        case NSURLErrorUnknown: named(text, isAnswered: isAnswered)
        case NSURLErrorCannotFindHost, NSURLErrorDNSLookupFailed: .dns
        case NSURLErrorCannotConnectToHost: .connectionRefused
        // The second is libcurl's "Empty reply from server" (`urlErrorCode(for:)` in Foundation's MultiHandle.swift).
        case NSURLErrorNetworkConnectionLost, NSURLErrorBadServerResponse: .connectionReset
        case NSURLErrorTimedOut: .timeout
        case NSURLErrorSecureConnectionFailed, NSURLErrorServerCertificateHasBadDate,
            NSURLErrorServerCertificateUntrusted, NSURLErrorServerCertificateHasUnknownRoot,
            NSURLErrorServerCertificateNotYetValid, NSURLErrorClientCertificateRejected,
            NSURLErrorClientCertificateRequired:
            .tls
        case NSURLErrorHTTPTooManyRedirects, NSURLErrorRedirectToNonExistentLocation: .tooManyRedirects
        // libcurl has one error for an unknown scheme and for an answer in an unknown version: "Received HTTP/0.9 when not
        // allowed".
        case NSURLErrorUnsupportedURL: text.contains("HTTP") ? .invalidResponse : .invalidRequest
        case NSURLErrorBadURL, NSURLErrorDataLengthExceedsMaximum, NSURLErrorFileDoesNotExist,
            NSURLErrorFileIsDirectory, NSURLErrorNoPermissionsToReadFile:
            .invalidRequest
        case NSURLErrorCannotParseResponse, NSURLErrorCannotDecodeContentData, NSURLErrorCannotDecodeRawData,
            NSURLErrorZeroByteResource:
            .invalidResponse
        case NSURLErrorCancelled, NSURLErrorUserCancelledAuthentication: .cancelled
        default: .other
        }
    }

    /// Returns the type for libcurl's text (libcurl, lib/strerror.c and the error buffer), because Foundation has no
    /// code for many errors of libcurl. The first matching text decides.
    private static func named(_ text: String, isAnswered: Bool) -> ErrorType {
        let texts: [(String, ErrorType)] = [
            ("reset by peer", .connectionReset), ("Broken pipe", .connectionReset),
            // libcurl 8 reports a closed connection over TLS in this way.
            ("unexpected eof", isAnswered ? .invalidResponse : .connectionReset),
            // These texts have the name of the host, which may be `certificate.example.com`: they come before its words.
            ("Could not resolve", .dns), ("connect to", .connectionFailed),
            ("SSL", .tls), ("certificate", .tls), ("TLS", .tls), ("CONNECT", .connectionFailed),
            ("redirects followed", .tooManyRedirects), ("timed out", .timeout),
            ("transfer closed", .invalidResponse), ("end of response", .invalidResponse), ("chunk", .invalidResponse),
            ("Content-Length", .invalidResponse),
            ("content unencoding", .invalidResponse), ("HTTP", .invalidResponse),
        ]
        return texts.first { text.contains($0.0) }?.1 ?? .other
    }
}
#endif
