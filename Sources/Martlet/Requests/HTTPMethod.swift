/// The methods that statistics tell apart (RFC 9110, section 9, and RFC 5789); any other is `_OTHER`, as the semantic
/// conventions have it.
enum HTTPMethod {
    static let other = "_OTHER"

    /// A comparison of short strings is one of words, where a set would hash.
    static func name(_ method: String) -> String {
        switch method {
        case "GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS", "CONNECT", "TRACE", "QUERY": method
        default: other
        }
    }
}
