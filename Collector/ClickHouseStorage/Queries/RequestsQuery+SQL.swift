import Foundation
import MartletStorage

extension RequestsQuery {
    /// The condition on the rows of all pages.
    var condition: String {
        var parts = [
            "kind != ''", "start_ns > \(Int64(clamping: window.from))", "start_ns <= \(Int64(clamping: window.to))",
            "day BETWEEN \(StoredDay.of(Int64(clamping: window.from))) AND \(StoredDay.of(Int64(clamping: window.to)))",
            filter.condition,
        ]
        if onlyFailed { parts.append("failed") }
        if let duration = slowerThan { parts.append("duration > \(Int64(clamping: duration))") }
        if let duration = fasterThan { parts.append("duration < \(Int64(clamping: duration))") }
        if let text { parts.append(Self.condition(text)) }
        return parts.joined(separator: " AND ")
    }

    /// Returns the condition that a kept field contains a text, in any case of ASCII letters.
    private static func condition(_ text: String) -> String {
        // Attributes, with headers and bodies among them, and events are stored as JSON.
        let trace = "lower(concat(hex(trace_high), hex(trace_low)))"
        let plain = [
            "url", "concat(method, concat(' ', endpoint))", Dimension.host.expression, "error", "message", trace,
            "service", "version", "environment", "instance",
        ].map { ($0, text) }
        let json = ["attributes", "events"].map { ($0, jsonText(text)) }
        let conditions = (plain + json).map { column, text in
            text.isEmpty ? "1" : "positionCaseInsensitive(\(column), \(SQLText.quoted(text))) > 0"
        }
        return "(\(conditions.joined(separator: " OR ")))"
    }

    /// Returns the text as it stands within the quotes of JSON.
    private static func jsonText(_ text: String) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        guard let json = try? encoder.encode(text) else { return text }
        return String(decoding: json.dropFirst().dropLast(), as: UTF8.self)
    }
}
