import Foundation

/// The changes that rules make to one request.
struct RuleDecision: Sendable {
    /// The name of the rule that applies: the first with an action or a delay, else the first with header fields.
    let name: String
    let headers: [HeaderChange]
    let action: RuleAction?
    let delay: Duration

    /// A change of one header field.
    struct HeaderChange: Sendable {
        let name: String
        /// `nil` removes the field.
        let value: String?
    }
}

/// The part of a rule that decides where a request goes.
enum RuleAction: Sendable {
    /// Connects to another address.
    case connect(host: String, port: Int)
    /// Replaces scheme, host and port.
    case redirect(RuleOrigin)
    /// Answers instead of the server.
    case respond(RuleAnswer)
    /// Fails without a connection.
    case fail(MartletRule.Failure)
}

/// A scheme, a host and a port.
struct RuleOrigin: Sendable {
    let scheme: String
    /// The host as in a URL, an IPv6 address in brackets.
    let host: String
    /// `nil` for the scheme's default.
    let port: Int?
}

/// A rule's answer as bytes of HTTP/1.1 (RFC 9112).
struct RuleAnswer: Sendable {
    private let head: [UInt8]
    private let body: [UInt8]

    init(_ response: MartletRule.Response) {
        let phrase = Self.phrases[response.status] ?? ""
        var lines = ["HTTP/1.1 \(response.status) \(phrase)"]
        lines += response.headers.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
        let hasLength = response.headers.keys.contains { $0.lowercased() == "content-length" }
        if !hasLength, Self.mayHaveBody(response.status) { lines.append("Content-Length: \(response.body.count)") }
        head = Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
        body = Array(response.body)
    }

    /// Returns the bytes that answer a request. An answer to HEAD ends with its head (RFC 9110, section 9.3.2).
    func bytes(toMethod method: String) -> [UInt8] { method == "HEAD" ? head : head + body }

    /// Returns whether an answer with this status has a body (RFC 9110, section 6.4.1).
    static func mayHaveBody(_ status: Int) -> Bool { status != 204 && status != 304 }

    /// Reason phrases that servers send (RFC 9110, section 15; RFC 6585). The phrase of any other status is empty.
    private static let phrases = [
        200: "OK", 201: "Created", 202: "Accepted", 204: "No Content", 206: "Partial Content", 301: "Moved Permanently",
        302: "Found", 303: "See Other", 304: "Not Modified", 307: "Temporary Redirect", 308: "Permanent Redirect",
        400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed",
        408: "Request Timeout", 409: "Conflict", 410: "Gone", 413: "Content Too Large", 422: "Unprocessable Content",
        429: "Too Many Requests", 500: "Internal Server Error", 501: "Not Implemented", 502: "Bad Gateway",
        503: "Service Unavailable", 504: "Gateway Timeout",
    ]
}
