import MartletTelemetry

/// A kept request as a command that sends it again. Redacted values stand in it as they were kept, so a person sees the gaps to
/// fill.
package enum CurlCommand {
    /// Header fields that curl sets itself.
    private static let ownFields: Set<String> = [
        "content-length", "host", "accept-encoding", "traceparent", "tracestate",
    ]

    /// Returns `nil` if the address or its host is not kept. A sender's text is never an option of curl.
    package static func text(of report: RequestReport) -> String? {
        guard let url = report.address else { return nil }
        let method = report.summary.method
        // With -X alone, curl waits for the body of an answer to HEAD.
        var words = ["curl", "--globoff"] + (method == "HEAD" ? ["--head"] : ["-X", ShellWord.quoted(method)])
        words += ["--url", ShellWord.quoted(url)]
        for (name, values) in report.requestHeaders.sorted(by: { $0.key < $1.key })
        where !ownFields.contains(name) && !name.hasPrefix("@") {
            // An empty field has a semicolon; with a colon curl leaves it out.
            for value in values { words += ["-H", ShellWord.quoted(value.isEmpty ? "\(name);" : "\(name): \(value)")] }
        }
        if let body = report.requestBody, method != "HEAD" { words += ["--data-raw", ShellWord.quoted(body)] }
        return words.joined(separator: " ")
    }
}
