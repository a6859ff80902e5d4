#if os(Linux)
import Foundation
import FoundationNetworking

/// The errors with which Foundation on Linux ends requests that failed on their way (`urlErrorCode(for:)` in MultiHandle.swift;
/// libcurl's lib/strerror.c).
enum RuledFailure {
    /// The codes of a connection that a rule prevented or closed.
    static let replaced: Set<Int> = [
        NSURLErrorUnknown, NSURLErrorCannotConnectToHost, NSURLErrorBadServerResponse, NSURLErrorNetworkConnectionLost,
    ]

    /// - Parameter native: the error of the prevented connection, whose URL the result keeps.
    static func error(_ failure: MartletRule.Failure, _ native: NSError) -> URLError {
        // Foundation's own time-out has nothing but its code.
        if failure == .timeout { return URLError(.timedOut) }
        var info = native.userInfo
        let host = (info[NSURLErrorFailingURLErrorKey] as? URL)?.host ?? ""
        let (code, text) = codeAndText(failure, host)
        info[NSLocalizedDescriptionKey] = text
        info[NSUnderlyingErrorKey] = NSError(
            domain: NSURLErrorDomain, code: code.rawValue, userInfo: [NSLocalizedDescriptionKey: text])
        return URLError(code, userInfo: info)
    }

    private static func codeAndText(_ failure: MartletRule.Failure, _ host: String) -> (URLError.Code, String) {
        switch failure {
        case .dns: (.cannotFindHost, "Could not resolve host: \(host)")
        case .connectionRefused: (.cannotConnectToHost, "Failed to connect to \(host): Couldn't connect to server")
        case .connectionFailed: (.unknown, "Failed to connect to \(host): Couldn't connect to server")
        case .connectionReset: (.networkConnectionLost, "Recv failure: Connection reset by peer")
        case .timeout: (.timedOut, "Connection timed out")
        case .tls: (.unknown, "SSL certificate problem: unable to get local issuer certificate")
        case .tooManyRedirects: (.httpTooManyRedirects, "too many HTTP redirects")
        case .invalidResponse: (.unknown, "transfer closed with outstanding read data remaining")
        }
    }
}
#endif
