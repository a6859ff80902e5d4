import Foundation

/// Values in the forms of the OpenTelemetry specification, where they differ from Martlet's own.
extension EnvironmentValue {
    /// `true` or `false` in any case. Another text is an error and counts as `false`.
    static func specificationBoolean(_ text: String) -> Bool? {
        ["true": true, "false": false][text.lowercased()]
    }

    /// A number from 0 to 1.
    static func ratio(_ text: String) -> Double? {
        Double(text).flatMap { (0...1).contains($0) ? $0 : nil }
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

    /// `name=value` with a percent-encoded value, a header field that uploads can have (specification, "OTLP Exporter
    /// Configuration", section "Specifying headers via environment variables").
    static func specificationHeader(_ text: String) -> (name: String, value: String)? {
        guard let separator = text.firstIndex(of: "="),
            let decoded = text[text.index(after: separator)...].removingPercentEncoding
        else { return nil }
        let name = text[..<separator].trimmingCharacters(in: .whitespaces)
        let value = decoded.trimmingCharacters(in: .whitespaces)
        return UploadHeader.isAllowed(name, value) ? (name, value) : nil
    }

    /// `delta`, `cumulative`, or `lowmemory`, which asks for deltas of histograms (specification, "Metrics Exporter - OTLP").
    static func temporality(_ text: String) -> MartletConfiguration.Temporality? {
        text.lowercased() == "lowmemory" ? .delta : choice(text)
    }

    /// Whether a list of propagators has W3C Trace Context, the only one that Martlet knows.
    static func specificationPropagation(_ text: String) -> Bool? {
        let propagators = list(text.lowercased()) { !$0.isEmpty && name($0) != nil }
        return propagators?.contains("tracecontext")
    }
}
