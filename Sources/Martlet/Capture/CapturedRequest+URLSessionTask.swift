#if os(Linux)
import Foundation
import FoundationNetworking

extension CapturedRequest {
    /// What a task that just ended tells of its request: the URL that was asked for and the status that came last.
    /// `nil` for a request without a URL, which the loader never starts.
    init?(_ task: URLSessionTask, error: (any Error)?, start: RequestStart, bytesLoaded: UInt64) {
        guard let request = task.originalRequest, let url = request.url else { return nil }
        let response = task.response as? HTTPURLResponse
        let method = request.httpMethod ?? "GET"
        let status = error == nil ? response?.statusCode : nil
        self.init(
            method: HTTPMethod.name(method), destination: .url(url), status: status,
            error: error.map(ErrorType.init(of:))?.rawValue ?? Self.failureStatus(status),
            start: start.wall, durationNanoseconds: Clock.monotonic() &- start.monotonic)
        bytesSent = UInt64(request.httpBody?.count ?? 0)
        bytesReceived = Self.bodySize(of: response, method: method, bytesLoaded: bytesLoaded)
    }

    /// A 4xx or 5xx names itself as the error (semantic conventions, "HTTP Spans").
    private static func failureStatus(_ status: Int?) -> String? {
        status.flatMap { $0 >= 400 ? String($0) : nil }
    }

    /// The size that the server declared, as the semantic conventions have it; a response without one counts what was
    /// loaded. A declared size says nothing where there is no body (RFC 9110, section 6.4.1).
    private static func bodySize(of response: HTTPURLResponse?, method: String, bytesLoaded: UInt64) -> UInt64 {
        guard let response, method != "HEAD", response.statusCode != 204, response.statusCode != 304 else { return 0 }
        return response.expectedContentLength >= 0 ? UInt64(response.expectedContentLength) : bytesLoaded
    }
}
#endif
