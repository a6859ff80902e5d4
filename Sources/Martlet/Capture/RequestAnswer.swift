#if os(Linux)
import Foundation
import FoundationNetworking
import MartletTelemetry

/// How a request ended, as its loader tells it.
struct RequestAnswer: Sendable {
    /// By the monotonic clock.
    var time = Clock.monotonic()
    var response: HTTPURLResponse?
    var error: ErrorType?
    /// What the error said.
    var message: String?
    var figures: TransferFigures?
    /// As far as it went through the loader's client.
    var body: Data?

    init(_ task: URLSessionTask, error: (any Error)?, handle: EasyHandle?, body: Data?) {
        response = task.response as? HTTPURLResponse
        self.error = error.map(ErrorType.init(of:))
        message = error.map { ($0 as NSError).localizedDescription }
        figures = handle?.figures
        self.body = body
    }

    /// Of a request that has not ended.
    init(error: ErrorType) {
        self.error = error
    }

    /// `nil` where an error came instead, or in the middle. What hangs may have had an answer.
    var status: Int? { error == nil || error == .hung ? response?.statusCode : nil }

    /// `error.type`: a 4xx or 5xx names itself (semantic conventions, "HTTP Spans").
    var errorName: String? { error?.rawValue ?? status.flatMap { $0 >= 400 ? String($0) : nil } }
}
#endif
