import MartletTelemetry

/// Everything that is kept about a request as text for a person.
package enum RequestText {
    package static func text(of report: RequestReport) -> String {
        let request = report.summary
        var lines = [
            "\(request.method) \(plain(request.url ?? "\(request.host)\(request.endpoint)"))",
            "\(plain(RequestsTable.outcome(of: request))) after \(milliseconds(request.duration)), \(request.time)",
            sender(of: request), "",
        ]
        lines += phases(of: request) + fields(of: report) + trace(of: report)
        if let curl = CurlCommand.text(of: report) { lines += ["", plain(curl)] }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func sender(of request: RequestSummary) -> String {
        let parts = [
            "\(request.service) (\(request.kind.rawValue))", request.version, request.environment, request.instance,
        ]
        return parts.compactMap { $0.map(plain) }.joined(separator: ", ")
    }

    private static func phases(of request: RequestSummary) -> [String] {
        guard !request.phases.isEmpty else { return [] }
        let lines = RequestPhase.allCases.compactMap { phase in
            request.phases[phase.rawValue].map { time in
                field(phase.rawValue.replacing("_", with: " "), milliseconds(time))
            }
        }
        return lines + [
            field("", "\(PhaseBar.text(request.phases, duration: request.duration))  \(PhaseBar.legend)"), "",
        ]
    }

    private static func fields(of report: RequestReport) -> [String] {
        let request = report.summary
        var lines: [String] = []
        if let error = request.error {
            lines.append(field("error", [error, request.message].compactMap(\.self).joined(separator: ": ")))
        }
        lines += message("request", report.requestHeaders, report.requestBody)
        lines += message("response", report.responseHeaders, report.responseBody)
        lines += report.attributes.sorted { $0.key < $1.key }.map { field($0.key, $0.value) }
        return lines
    }

    private static func message(_ title: String, _ headers: [String: [String]], _ body: String?) -> [String] {
        let fields = headers.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value.joined(separator: ", "))" }
        return (fields + (body.map { [$0] } ?? [])).enumerated().map { field($0.offset == 0 ? title : "", $0.element) }
    }

    private static func trace(of report: RequestReport) -> [String] {
        let services = Set(report.trace.map(\.service)).count
        let count = report.trace.count + (report.moreSpans ?? 0)
        var lines = [
            "", "trace \(report.summary.traceID): \(counted(count, "span")) of \(counted(services, "service"))",
        ]
        for (span, depth) in TraceTree.rows(of: report.trace) {
            let mark = span.spanID == report.summary.spanID ? "> " : "  "
            let outcome = span.error ?? span.status.map(String.init) ?? (span.isError ? "error" : "")
            let name = String(repeating: "  ", count: depth) + "\(span.service) \(span.kind) \(span.name)"
            lines.append(
                "\(mark)+\(milliseconds(span.offset))  \(milliseconds(span.duration))  \(plain(name))  \(plain(outcome))"
            )
        }
        if let more = report.moreSpans { lines.append("  and \(more) more spans") }
        return lines
    }

    private static func milliseconds(_ value: Double) -> String { FigureText.figure(value) + " ms" }

    private static func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }

    private static func field(_ name: String, _ value: String) -> String {
        let padding = String(repeating: " ", count: max(0, 12 - name.count))
        return "  \(plain(name))\(padding) \(plain(value))"
    }

    private static func plain(_ text: String) -> String { TerminalText.plain(text) }
}
