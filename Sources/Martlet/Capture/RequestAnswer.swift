#if os(Linux)
import Foundation
import FoundationNetworking
import MartletTelemetry

/// How a request ended, as its loader tells it. An object, because it is handed on and would be copied with all that it
/// holds.
final class RequestAnswer: Sendable {
    /// By the monotonic clock.
    let time = Clock.monotonic()
    let response: HTTPURLResponse?
    let error: ErrorType?
    /// What the error said.
    let message: String?
    let figures: TransferFigures?
    /// As far as it went through the loader's client.
    let body: Data?

    /// - Parameters:
    ///   - isTimed: whether the phases are asked for.
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

    /// Of a request that has not ended, and may have been asked for credentials.
    init(hungAfter challenge: RequestAnswer?) {
        response = challenge?.response
        error = .hung
        message = challenge?.message
        figures = nil
        body = challenge?.body
    }

    /// `nil` where an error came instead, or in the middle. What hangs may have had an answer.
    var status: Int? { error == nil || error == .hung ? response?.statusCode : nil }

    /// `error.type`: a 4xx or 5xx names itself (semantic conventions, "HTTP Spans").
    var errorName: String? { error?.rawValue ?? status.flatMap { $0 >= 400 ? String($0) : nil } }
}
#endif
