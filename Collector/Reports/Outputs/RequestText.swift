import MartletTelemetry

/// Everything that is kept about a request, for a person to read. On a terminal the waterfalls are fitted to its width. Texts that
/// a person copies, such as the address, are never cut.
package enum RequestText {
    /// - Parameter allSpans: whether each span of the trace has a separate line. Otherwise equal siblings share one.
    package static func text(
        of report: RequestReport, allSpans: Bool = false, on device: OutputDevice = .file
    ) -> String {
        let parts: [String?] = [
            heading(of: report.summary, on: device), PhaseText(report)?.text(on: device),
            fields(of: report).map { $0 + "\n" }.joined(), TraceText(report, allSpans: allSpans).text(on: device),
            CurlCommand.text(of: report).map { plain($0) + "\n" },
        ]
        return parts.compactMap(\.self).filter { !$0.isEmpty }.joined(separator: "\n")
    }

    private static func heading(of request: RequestSummary, on device: OutputDevice) -> String {
        let outcome = plain(RequestsTable.outcome(of: request))
        let address =
            request.system == nil
            ? "\(request.method) \(request.url ?? "\(request.host)\(request.endpoint)")"
            : RequestsTable.name(of: request)
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
        if let system = request.system { lines.append(field("system", system)) }
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

/// The phases of a request as lines with bars for a person.
struct PhaseText {
    /// The characters of the bars in a file.
    private static let fileWidth = 60
    /// The smallest width of the bars on a terminal, in characters.
    private static let narrowest = 8

    private let waterfall: PhaseWaterfall

    /// Returns `nil` if the sender sends no phases.
    init?(_ report: RequestReport) {
        guard let waterfall = PhaseWaterfall(report) else { return nil }
        self.waterfall = waterfall
    }

    func text(on device: OutputDevice) -> String {
        let notes = waterfall.bars.map { TextWidth.of(Self.note($0)) }.max() ?? 0
        let room = table(nil).room(on: device).map { max(Self.narrowest, $0 - notes) }
        let axis = TimeAxis(scale: waterfall.scale, width: room ?? Self.fileWidth)
        return table(axis).text(on: device) + "  " + device.paint(PhaseBar.legend, .dim) + "\n"
    }

    /// - Parameter axis: the axis of the bars; without one there are no bars.
    private func table(_ axis: TimeAxis?) -> TextTable {
        var table = TextTable([
            TextTable.Column(title: ""), TextTable.Column(title: "", alignment: .figure),
            TextTable.Column(title: "", gap: 1), TextTable.Column(title: ""),
        ])
        for bar in waterfall.bars {
            if bar.phase == .firstByte, let missing = missingConnection { table.add(missing) }
            let figure = bar.isUnfinished ? "…" : FigureText.figure(bar.length)
            let cells = [
                "  " + bar.phase.rawValue.replacing("_", with: " "), figure, bar.isUnfinished ? "" : "ms",
            ]
            let drawn = axis.map { Self.text(of: bar, on: $0) } ?? ""
            table.add(cells.map { TextTable.Cell($0) } + [TextTable.Cell(drawn, bar.isUnfinished ? .red : nil)])
        }
        return table
    }

    private var missingConnection: [TextTable.Cell]? {
        guard waterfall.connection == .reused else { return nil }
        return ["  connect", "–", "", "reused connection"].map { TextTable.Cell($0) }
    }

    private static func text(of bar: PhaseWaterfall.Bar, on axis: TimeAxis) -> String {
        let characters = axis.characters(from: bar.start, lasting: bar.length)
        return String(repeating: " ", count: characters.lowerBound)
            + String(repeating: bar.side.sign, count: characters.count) + note(bar)
    }

    private static func note(_ bar: PhaseWaterfall.Bar) -> String {
        guard bar.isUnfinished else { return "" }
        return "  never \(bar.phase == .firstByte ? "arrived" : "finished"): \(FigureText.figure(bar.length)) ms"
    }
}

/// The spans of a trace as lines with bars for a person.
struct TraceText {
    /// The characters of the bars in a file.
    private static let fileWidth = 60
    /// The smallest width of the bars on a terminal, in characters.
    private static let narrowest = 12

    private let report: RequestReport
    private let waterfall: TraceWaterfall
    private let lines: [TraceLine]

    init(_ report: RequestReport, allSpans: Bool = false) {
        self.report = report
        waterfall = TraceWaterfall(report.trace)
        lines = allSpans ? waterfall.unfolded : waterfall.folded(except: report.summary.id)
    }

    func text(on device: OutputDevice) -> String {
        let room = table(nil).room(on: device).map { max(Self.narrowest, $0) }
        let axis = TimeAxis(scale: waterfall.scale, width: room ?? Self.fileWidth)
        let notes = notes(on: device).map { "  " + $0 + "\n" }.joined()
        return title(on: device) + "\n" + table(axis).text(on: device) + notes
    }

    private func title(on device: OutputDevice) -> String {
        let spans = report.trace.count + (report.moreSpans ?? 0)
        return device.paint("trace \(report.summary.traceID)", .bold)
            + ": \(FigureText.counted(spans, "span")) of \(FigureText.counted(waterfall.services.count, "service"))"
    }

    /// - Parameter axis: the axis of the bars; without one there are no bars.
    private func table(_ axis: TimeAxis?) -> TextTable {
        let scale = axis.map { "0 to \(FigureText.figure($0.scale)) ms" } ?? ""
        var table = TextTable([
            TextTable.Column(title: ""), TextTable.Column(title: "service", isName: true, gap: 1),
            TextTable.Column(title: "span", isName: true), TextTable.Column(title: "ms", alignment: .figure),
            TextTable.Column(title: "status"), TextTable.Column(title: scale),
        ])
        table.addTitles()
        for line in lines {
            let tone = line.failed.isEmpty ? nil : Tone.red
            let name = String(repeating: "  ", count: line.depth) + "\(line.span.verb) \(line.name)"
            table.add([
                TextTable.Cell(mark(of: line), tone), TextTable.Cell(line.span.service), TextTable.Cell(name),
                TextTable.Cell(FigureText.figure(line.duration)), TextTable.Cell(Self.outcome(of: line), tone),
                TextTable.Cell(axis.map { Self.bar(of: line, on: $0) } ?? "", tone),
            ])
        }
        return table
    }

    private func mark(of line: TraceLine) -> String {
        (line.span.spanID == report.summary.spanID ? ">" : " ") + (line.failedFirst ? "✗" : " ")
    }

    /// The outcome of a line's span. Of several spans, the number of failed ones, or the outcome that all have.
    private static func outcome(of line: TraceLine) -> String {
        if line.isFolded, !line.failed.isEmpty { return "\(FigureText.grouped(UInt64(line.failed.count))) failed" }
        let outcomes = Set(line.spans.map(outcome))
        return outcomes.count == 1 ? outcomes.joined() : ""
    }

    private static func outcome(of span: TraceSpan) -> String {
        span.error ?? span.status.map(String.init) ?? (span.isError ? "error" : "")
    }

    /// The times in which the line's spans ran. Those that touch are drawn as one.
    private static func bar(of line: TraceLine, on axis: TimeAxis) -> String {
        var parts: [Range<Int>] = []
        for (from, to) in line.times {
            let part = axis.characters(from: from, lasting: to - from)
            if let last = parts.last, part.lowerBound <= last.upperBound {
                parts[parts.count - 1] = last.lowerBound..<max(last.upperBound, part.upperBound)
            } else {
                parts.append(part)
            }
        }
        return parts.reduce(into: "") { text, part in
            text += String(repeating: " ", count: part.lowerBound - text.count)
            text += part.count == 1 ? "│" : "├\(String(repeating: "─", count: part.count - 2))┤"
        }
    }

    private func notes(on device: OutputDevice) -> [String] {
        var notes =
            report.moreSpans.map { more in
                [
                    "and \(FigureText.counted(more, "more span"))"
                        + (waterfall.hasAllFailed ? "; all that failed are shown" : "")
                ]
            } ?? []
        notes += lines.filter(\.isFolded).map { TerminalText.plain(Self.sentence($0)) }
        if let first = waterfall.rows.first(where: \.failedFirst)?.span {
            let name = TerminalText.plain("\(first.service) \(first.verb) \(first.name), \(Self.outcome(of: first))")
            notes.append(device.paint("✗ first to fail", .red) + ": \(name)")
        }
        notes += waterfall.skews.map { skew in
            device.paint(TerminalText.plain(Self.sentence(skew)), .yellow)
        }
        return notes
    }

    private static func sentence(_ line: TraceLine) -> String {
        let above = line.timeAbove.map { " of \(FigureText.figure($0))" } ?? ""
        let slowest = line.spans.map(\.duration).max() ?? 0
        return """
            \(line.span.service) \(line.span.verb) \(line.name): \(line.order), \(FigureText.figure(line.duration))\(above) ms, \
            slowest \(FigureText.figure(slowest)) ms
            """
    }

    private static func sentence(_ skew: TraceWaterfall.Skew) -> String {
        """
        The clock of \(skew.sender) is \(FigureText.figure(skew.behind)) ms or more behind that of \
        \(skew.caller). Each bar is drawn by the clock of its sender.
        """
    }
}

/// A kept request as a command that sends it again. Redacted values stay redacted, so a person sees the gaps to fill.
package enum CurlCommand {
    /// Header fields that curl sets itself.
    private static let ownFields: Set<String> = [
        "content-length", "host", "accept-encoding", "traceparent", "tracestate",
    ]

    /// Returns `nil` if the address or its host is not kept. curl never reads a sender's text as an option.
    package static func text(of report: RequestReport) -> String? {
        guard let url = report.address else { return nil }
        let method = report.summary.method
        // With only -X, curl waits for the body of a response to HEAD.
        var words = ["curl", "--globoff"] + (method == "HEAD" ? ["--head"] : ["-X", ShellWord.quoted(method)])
        words += ["--url", ShellWord.quoted(url)]
        for (name, values) in report.requestHeaders.sorted(by: { $0.key < $1.key })
        where !ownFields.contains(name) && !name.hasPrefix("@") {
            // An empty field needs a semicolon; with a colon, curl omits the field.
            for value in values { words += ["-H", ShellWord.quoted(value.isEmpty ? "\(name);" : "\(name): \(value)")] }
        }
        if let body = report.requestBody, method != "HEAD" { words += ["--data-raw", ShellWord.quoted(body)] }
        return words.joined(separator: " ")
    }
}
