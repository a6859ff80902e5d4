import MartletPoints
import MartletTelemetry

/// A server's name in an attribute: alone, or with its port, as some instruments take it from the `Host` header.
struct ServerName {
    /// As it is stored (``RequestDimensions/storedHost(_:)``).
    let host: String
    let port: Int?

    /// `example.com`, `example.com:8080`, `::1`, `[::1]:8080`
    init(_ text: String) {
        let bracket = text.lastIndex(of: "]")
        let isAddress = bracket == nil && text.count { $0 == ":" } > 1
        let colon = isAddress ? nil : text.lastIndex(of: ":").flatMap { $0 > bracket ?? text.startIndex ? $0 : nil }
        host = RequestDimensions.storedHost(text[..<(colon ?? text.endIndex)])
        port = colon.flatMap { Int(text[text.index(after: $0)...]) }
    }
}
