/// The methods that statistics tell apart (RFC 9110, section 9, and RFC 5789); any other is `_OTHER`, as the semantic
/// conventions have it.
enum HTTPMethod {
    static let other = "_OTHER"
    private static let known: Set<String> = [
        "GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH", "QUERY",
    ]

    static func name(_ method: String) -> String {
        known.contains(method) ? method : other
    }
}
