import MartletTelemetry

/// The methods that statistics distinguish (RFC 9110, section 9, and RFC 5789). The semantic conventions call any other
/// method `_OTHER`.
enum HTTPMethod {
    /// Returns the method's name in statistics. A switch compares short strings as words, where a set would hash them.
    static func name(_ method: String) -> String {
        switch method {
        case "GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS", "CONNECT", "TRACE", "QUERY": method
        default: RequestDimensions.otherMethodOrError
        }
    }
}
