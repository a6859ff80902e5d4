#if os(Linux)
import Foundation
import FoundationNetworking

/// A request at its end, with the values that its observation has for its record.
struct FinishedRequest {
    /// The request as its first loader had it, ahead of redirects and challenges.
    let original: URLRequest
    let url: URL
    let context: TraceContext
    /// The attribute `http.request.resend_count`: the requests that libcurl wrote after the first.
    let resends: Int
    /// The last answer that asked for credentials; `nil` if the server did not ask.
    let challenge: RequestAnswer?
    /// The name of the rule that changed the request; `nil` for none.
    var rule: String?
}
#endif
