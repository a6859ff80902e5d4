/// The labels of a sample, as text in Prometheus' format.
package struct PrometheusLabels: Sendable, Hashable, ExpressibleByDictionaryLiteral {
    package private(set) var text = ""

    /// Leaves out a label without a value, which means the same to Prometheus.
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

    /// Escapes backslash, quotation mark and line feed, as the format demands. The format does not define other control
    /// characters, and they may end a parser's input, so each becomes U+FFFD.
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
