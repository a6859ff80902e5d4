#if os(Linux)
import Foundation
import FoundationNetworking
import MartletTelemetry

/// The end of a request as its loader reports it: a response or an error. A class, so that passing it on copies nothing.
final class RequestAnswer: Sendable {
    /// The time of the end in nanoseconds, by the monotonic clock.
    let time = Clock.monotonic()
    let response: HTTPURLResponse?
    let error: ErrorType?
    /// The error's description; `nil` without an error.
    let message: String?
    let figures: TransferFigures?
    /// The body that went through the loader's client; `nil` for none, and where bodies are not kept.
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
    /// - Parameter challenge: the answer that asked for credentials; `nil` if the server did not ask.
    init(hungAfter challenge: RequestAnswer?) {
        response = challenge?.response
        error = .hung
        message = challenge?.message
        figures = nil
        body = challenge?.body
    }

    /// The response's status; `nil` where an error came instead of the response or during it. A hung request may have a
    /// response.
    var status: Int? { error == nil || error == .hung ? response?.statusCode : nil }

    /// The attribute `error.type`; `nil` for a success. A status of 4xx or 5xx is its own type (semantic conventions, "HTTP
    /// Spans").
    var errorName: String? { error?.rawValue ?? status.flatMap { $0 >= 400 ? String($0) : nil } }
}
#endif
