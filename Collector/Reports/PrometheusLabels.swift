/// The labels of a sample, as they are written.
package struct PrometheusLabels: Sendable, Hashable, ExpressibleByDictionaryLiteral {
    package private(set) var text = ""

    /// A label without a value is left out, which means the same to Prometheus.
    package init(dictionaryLiteral elements: (String, String?)...) {
        for (name, value) in elements where !(value ?? "").isEmpty { append(name, value ?? "") }
    }

    package func adding(_ name: String, _ value: String) -> PrometheusLabels {
        var labels = self
        labels.append(name, value)
        return labels
    }

    private mutating func append(_ name: String, _ value: String) {
        if !text.isEmpty { text += "," }
        text += "\(name)=\"\(Self.escaped(value))\""
    }

    /// Backslash, quotation mark and line feed are escaped, as the format has it. Other control characters mean nothing to
    /// it and may end a parser's input, so each becomes U+FFFD.
    private static func escaped(_ value: String) -> String {
        guard value.utf8.contains(where: { $0 < 0x20 || $0 == 0x7f || $0 == 0x22 || $0 == 0x5c }) else { return value }
        return value.unicodeScalars.reduce(into: "") { result, scalar in
            switch scalar {
            case "\\": result += #"\\"#
            case "\"": result += #"\""#
            case "\n": result += #"\n"#
            case _ where scalar.value < 0x20 || scalar.value == 0x7f: result += "\u{FFFD}"
            default: result.unicodeScalars.append(scalar)
            }
        }
    }
}
