import Foundation

/// Values in the forms of the OpenTelemetry specification, where they differ from Martlet's own.
extension EnvironmentValue {
    /// `true` or `false` in any case. Another text is an error and counts as `false`.
    static func specificationBoolean(_ text: String) -> Bool? {
        ["true": true, "false": false][text.lowercased()]
    }

    /// `key=value,key=value`, percent-encoded (W3C Baggage).
    static func specificationPairs(_ text: String) -> [String: String]? {
        var pairs: [String: String] = [:]
        for item in text.split(separator: ",") {
            guard let separator = item.firstIndex(of: "="),
                let value = item[item.index(after: separator)...].removingPercentEncoding, name(value) != nil
            else { return nil }
            pairs[item[..<separator].trimmingCharacters(in: .whitespaces)] = value.trimmingCharacters(in: .whitespaces)
        }
        return pairs
    }

    /// The bearer token in a list of headers, the only one that Martlet sends.
    static func specificationBearerToken(_ text: String) -> String? {
        let header = specificationPairs(text)?.first { $0.key.lowercased() == "authorization" }
        guard let value = header?.value, value.lowercased().hasPrefix("bearer ") else { return nil }
        return token(String(value.dropFirst("bearer ".count)))
    }

    /// Whether a list of propagators has W3C Trace Context, the only one that Martlet knows.
    static func specificationPropagation(_ text: String) -> Bool? {
        let propagators = list(text.lowercased()) { !$0.isEmpty && name($0) != nil }
        return propagators?.contains("tracecontext")
    }
}
