import MartletReports

/// Findings for a person to read: a sentence each, the most expensive first, and below it who carries it.
package enum FindingsText {
    /// - Parameter source: the flags that name the collector or store, for the command at the end.
    package static func text(
        of report: FindingsReport, _ source: [CommandFlag] = [], on device: OutputDevice = .file
    ) -> String {
        var lines = [headline(report) + "  " + window(report)]
        for (index, finding) in report.findings.enumerated() {
            lines += [""] + self.lines(index + 1, finding, on: device)
        }
        let notes = notes(report)
        if !notes.isEmpty { lines += [""] + notes }
        if let first = report.findings.first { lines += ["", next(first, of: report, source)] }
        return lines.joined(separator: "\n") + "\n"
    }

    // MARK: The head and the notes

    private static func headline(_ report: FindingsReport) -> String {
        guard report.count > 0 else { return "No findings." }
        let things = report.count == 1 ? "1 thing" : "\(report.count) things"
        let open = report.findings.filter(\.isOpen).count
        return "\(things) happened, \(open) \(open == 1 ? "is" : "are") ongoing."
    }

    private static func window(_ report: FindingsReport) -> String {
        "\(TimeText.inSeconds(report.from)) to \(TimeText.inSeconds(report.to))"
    }

    private static func notes(_ report: FindingsReport) -> [String] {
        var notes: [String] = []
        if report.count > report.findings.count {
            notes.append("\(report.count - report.findings.count) more; --kind and filters select fewer.")
        }
        if let quiet = report.quietSince, !report.findings.isEmpty { notes.append("Quiet since \(quiet).") }
        if !report.isComplete {
            notes.append(
                "Findings may be missing: the collector has just started, or the window has more than it can read or begins "
                    + "more than 30 days ago.")
        }
        return notes
    }

    private static func next(_ first: Finding, of report: FindingsReport, _ source: [CommandFlag]) -> String {
        let name = CommandText.text("", [])
        let flags = CommandText.text("", source).dropFirst(name.count)
        let title = report.findings.count == 1 ? "See it:" : "See the first:"
        return "\(title)  \(TerminalText.plain(first.command))\(flags)"
    }

    // MARK: A finding

    /// The columns before the text.
    private static let indent = 14
    /// The most columns of a line of text.
    private static let width = 120

    private static func lines(_ number: Int, _ finding: Finding, on device: OutputDevice) -> [String] {
        let columns = max(40, min(device.columns ?? width, width)) - indent
        let title = TerminalText.plain(finding.title) + (finding.isOpen ? " (ongoing)" : "")
        let details = details(finding)
        let text = wrapped(title, columns) + (details.isEmpty ? [] : wrapped(TerminalText.plain(details), columns))
        let kind = finding.kind.rawValue.padded(to: 9)
        let head = "\(String(number).padded(to: 2))\(finding.kind.sign) " + (device.isColored ? bold(kind) : kind) + " "
        let blank = String(repeating: " ", count: indent)
        return text.enumerated().map { ($0 == 0 ? head : blank) + $1 }
    }

    private static func bold(_ text: String) -> String { "\u{1b}[1m\(text)\u{1b}[0m" }

    private static func wrapped(_ text: String, _ columns: Int) -> [String] {
        var lines = [""]
        for word in text.split(separator: " ") {
            let last = lines[lines.count - 1]
            if last.isEmpty {
                lines[lines.count - 1] = String(word)
            } else if last.count + 1 + word.count <= columns {
                lines[lines.count - 1] += " " + word
            } else {
                lines.append(String(word))
            }
        }
        return lines
    }

    private static func details(_ finding: Finding) -> String {
        [what(finding), who(finding), side(finding), also(finding)].compactMap { $0 }.joined(separator: ". ")
    }

    private static func what(_ finding: Finding) -> String? {
        guard !finding.what.isEmpty else { return nil }
        return finding.what.prefix(3).map { "\($0.value) in \($0.count)" }.joined(separator: ", ")
    }

    private static func who(_ finding: Finding) -> String? {
        guard !finding.who.isEmpty else { return nil }
        return finding.who.prefix(3).map { carrier in
            let name = "\(carrier.dimension.rawValue) \(carrier.value)"
            guard let bad = carrier.shareOfBad, let all = carrier.shareOfAll else { return name }
            return "\(name): \(percent(bad)) of them, \(percent(all)) of all requests"
        }.joined(separator: "; ")
    }

    private static func percent(_ share: Double) -> String { "\(Int((share * 100).rounded())) %" }

    private static func side(_ finding: Finding) -> String? {
        switch finding.side {
        case .server?: "The server takes longer"
        case .network?: "The network takes longer"
        case .client?: "Requests wait in the calling process"
        case nil: nil
        }
    }

    private static func also(_ finding: Finding) -> String? {
        guard !finding.also.isEmpty else { return nil }
        let names = finding.also.prefix(4).map(\.text)
        let more = finding.also.count > names.count ? " and \(finding.also.count - names.count) more" : ""
        return "Also: \(names.joined(separator: ", "))\(more)"
    }
}

extension FindingKind {
    /// A sign that says whether requests suffer from it.
    fileprivate var sign: String {
        switch self {
        case .starved, .memory, .silent, .lost: "◐"
        case .ended, .hung, .calls, .newError, .retries, .failing, .slow: "▲"
        }
    }
}

extension String {
    fileprivate func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
