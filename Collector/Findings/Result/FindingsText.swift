import MartletReports

/// Findings for a person to read: a sentence each, the most expensive first, and below it who carries it.
package enum FindingsText {
    /// - Parameter source: the flags that name the collector or store, for the command at the end.
    package static func text(
        of report: FindingsReport, _ source: [CommandFlag] = [], on device: OutputDevice = .file
    ) -> String {
        var lines = [headline(report) + "  " + window(report)]
        for (index, finding) in report.findings.enumerated() {
            let line = FindingLines.Line(finding)
            lines += [""] + line.text(number: index + 1, details: details(finding), on: device)
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
        if report.others > 0 { notes.append("\(report.others) more; --kind and filters select fewer.") }
        if let quiet = report.quietSince, !report.findings.isEmpty { notes.append("Quiet since \(quiet).") }
        if !report.isComplete { notes.append(FindingsReport.gap) }
        return notes
    }

    private static func next(_ first: Finding, of report: FindingsReport, _ source: [CommandFlag]) -> String {
        let title = report.findings.count == 1 ? "See it:" : "See the first:"
        return title + "  " + TerminalText.plain(CommandText.adding(source, to: first.command))
    }

    // MARK: A finding

    private static func details(_ finding: Finding) -> String {
        [what(finding), who(finding), side(finding), also(finding)].compactMap { $0 }.joined(separator: ". ")
    }

    private static func what(_ finding: Finding) -> String? {
        guard !finding.formsToName.isEmpty else { return nil }
        return finding.formsToName.prefix(3).map { "\($0.value) in \($0.count)" }.joined(separator: ", ")
    }

    private static func who(_ finding: Finding) -> String? {
        guard !finding.who.isEmpty else { return nil }
        return finding.who.prefix(3).map { carrier in
            let name = "\(carrier.dimension.rawValue) \(carrier.value)" + (carrier.service.map { " of \($0)" } ?? "")
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
        let names = finding.also.prefix(4).map { $0.kind == .client ? "\($0.service): \($0.text)" : $0.text }
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

extension FindingLines.Line {
    init(_ finding: Finding) {
        self.init(
            sign: finding.kind.sign, kind: finding.kind.rawValue,
            sentence: finding.title + (finding.isOpen ? " (ongoing)" : ""))
    }
}

extension FindingLines {
    /// The most findings above a table.
    private static let most = 3

    /// - Parameter flags: those of the command that lists all findings, and of its source.
    package init(_ report: FindingsReport, _ flags: [CommandFlag]) {
        let lines = report.findings.prefix(Self.most).map(Line.init)
        self.init(lines, others: report.count - lines.count, command: CommandText.text("findings", flags))
    }
}
