import MartletTelemetry

/// A kept request as a command that sends it again. Redacted values stand in it as they were kept, so a person sees the gaps to
/// fill.
enum CurlCommand {
    /// Header fields that curl sets itself.
    private static let ownFields: Set<String> = [
        "content-length", "host", "accept-encoding", "traceparent", "tracestate",
    ]

    /// Returns `nil` if the address is not kept.
    static func text(of report: RequestReport) -> String? {
        guard let url = report.summary.url else { return nil }
        var words = ["curl", "--globoff", "-X", quoted(report.summary.method), quoted(url)]
        for (name, values) in report.requestHeaders.sorted(by: { $0.key < $1.key }) where !ownFields.contains(name) {
            for value in values { words += ["-H", quoted("\(name): \(value)")] }
        }
        if let body = report.requestBody { words += ["--data-raw", quoted(body)] }
        return words.joined(separator: " ")
    }

    /// Returns the text as one word of a POSIX shell (POSIX.1-2017, Shell Command Language, section 2.2.2). It goes by Unicode
    /// scalars, because a quote that a combining mark follows is another character, and still a quote for the shell.
    private static func quoted(_ text: String) -> String {
        let escaped = text.unicodeScalars.reduce(into: "") { escaped, scalar in
            if scalar == "'" { escaped += #"'\'"# }
            escaped.unicodeScalars.append(scalar)
        }
        return "'\(escaped)'"
    }
}
