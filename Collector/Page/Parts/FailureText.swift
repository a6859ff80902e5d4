/// The meaning of a failure in a few words.
enum FailureText {
    /// - Parameters:
    ///   - status: the status of the answer; `nil` if none came.
    ///   - error: `error.type`.
    /// - Returns: `nil` for a failure without a known name.
    static func meaning(status: String?, error: String?) -> String? {
        let reason = status.flatMap { reasons[$0] }
        guard let error, error != status else { return reason }
        guard let meaning = errors[error] else { return status.map { "after status \($0)" } }
        return status.map { "\(meaning), after status \($0)" } ?? meaning
    }

    /// The values of `error.type` that Martlet's agents use (docs/capture.md).
    private static let errors = [
        "dns": "the name was not found",
        "connection_refused": "nobody listened there",
        "connection_failed": "no way to the host",
        "connection_reset": "the connection was closed before the answer",
        "timeout": "time-out of the request or the session",
        "tls": "no secure connection",
        "too_many_redirects": "redirected too often",
        "invalid_request": "the request cannot be sent",
        "invalid_response": "the answer cannot be read",
        "hung": "in flight for longer than the limit",
        "_OTHER": "any other error",
    ]

    /// The reason phrases of RFC 9110, section 15, and RFC 6585.
    private static let reasons = [
        "400": "Bad Request", "401": "Unauthorized", "402": "Payment Required", "403": "Forbidden", "404": "Not Found",
        "405": "Method Not Allowed", "406": "Not Acceptable", "408": "Request Timeout", "409": "Conflict",
        "410": "Gone", "411": "Length Required", "412": "Precondition Failed", "413": "Content Too Large",
        "414": "URI Too Long", "415": "Unsupported Media Type", "416": "Range Not Satisfiable",
        "417": "Expectation Failed", "421": "Misdirected Request", "422": "Unprocessable Content",
        "426": "Upgrade Required", "428": "Precondition Required", "429": "Too Many Requests",
        "431": "Request Header Fields Too Large", "500": "Internal Server Error", "501": "Not Implemented",
        "502": "Bad Gateway", "503": "Service Unavailable", "504": "Gateway Timeout",
        "505": "HTTP Version Not Supported",
    ]
}
