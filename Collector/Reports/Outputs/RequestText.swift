import MartletTelemetry

/// Everything that is kept about a request as text for a person. A terminal gets the waterfalls fitted to its width; texts that
/// a person copies, such as the address, are whole everywhere.
package enum RequestText {
    package static func text(of report: RequestReport, on device: OutputDevice = .file) -> String {
        let parts: [String?] = [
            heading(of: report.summary, on: device), PhaseText(report)?.text(on: device),
            fields(of: report).map { $0 + "\n" }.joined(), TraceText(report).text(on: device),
            CurlCommand.text(of: report).map { plain($0) + "\n" },
        ]
        return parts.compactMap(\.self).filter { !$0.isEmpty }.joined(separator: "\n")
    }

    private static func heading(of request: RequestSummary, on device: OutputDevice) -> String {
        let outcome = plain(RequestsTable.outcome(of: request))
        let address = "\(request.method) \(request.url ?? "\(request.host)\(request.endpoint)")"
        return """
            \(device.paint(plain(address), .bold))
            \(device.paint(outcome, request.failed ? .red : .green)) after \(milliseconds(request.duration)), \(request.time)
            \(device.paint(sender(of: request), .dim))

            """
    }

    private static func sender(of request: RequestSummary) -> String {
        let parts: [String?] = [
            "\(request.service) (\(request.kind.rawValue))", request.version, request.environment, request.instance,
        ]
        return parts.compactMap { $0.map(plain) }.joined(separator: ", ")
    }

    private static func fields(of report: RequestReport) -> [String] {
        let request = report.summary
        var lines: [String] = []
        if let error = request.error {
            lines.append(field("error", [error, request.message].compactMap(\.self).joined(separator: ": ")))
        }
        if let rule = request.rule { lines.append(field("rule", rule + " (changed by it)")) }
        lines += message("request", report.requestHeaders, report.requestBody)
        lines += message("response", report.responseHeaders, report.responseBody)
        lines += report.attributes.sorted { $0.key < $1.key }.map { field($0.key, $0.value) }
        return lines
    }

    private static func message(_ title: String, _ headers: [String: [String]], _ body: String?) -> [String] {
        let fields = headers.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value.joined(separator: ", "))" }
        return (fields + (body.map { [$0] } ?? [])).enumerated().map { index, text in
            field(index == 0 ? title : "", text)
        }
    }

    private static func milliseconds(_ value: Double) -> String { FigureText.figure(value) + " ms" }

    private static func field(_ name: String, _ value: String) -> String {
        let padding = String(repeating: " ", count: max(0, 12 - name.count))
        return "  \(plain(name))\(padding) \(plain(value))"
    }

    private static func plain(_ text: String) -> String { TerminalText.plain(text) }
}
