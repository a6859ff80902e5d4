import MartletStorage

/// The outcome of a comparison for a person: an answer, the gaps in it, and a line for each changed row.
package struct ComparisonText {
    private let report: Report
    private let comparison: ReportComparison

    /// The most lines of changed rows, unless more are worse: each of those has a line.
    private static let maxLines = 10

    /// Returns `nil` if the report is not compared.
    package init?(_ report: Report) {
        guard let comparison = report.compare else { return nil }
        (self.report, self.comparison) = (report, comparison)
    }

    /// The number of compared rows.
    private var comparedCount: Int {
        comparison.worse + comparison.better + comparison.same + comparison.tooLittleData
    }

    /// The other window: `the hour before`.
    private var base: String { ComparisonBaseText.noun(comparison) }

    // MARK: The answer

    /// A sentence; `nil` if there are no rows.
    package var answer: String? {
        let count = comparedCount
        guard count > 0 else { return nil }
        guard count > 1 else { return answer(about: "only \(report.by.wordForRow)") }
        let rows = (count < report.rowCount ? "the first " : "") + report.by.rows(count)
        if comparison.worse > 0 {
            return
                "\(comparison.worse) of \(rows) \(comparison.worse == 1 ? "is" : "are") worse, compared with \(base)."
        }
        guard comparison.tooLittleData < count else { return "Not enough data to compare \(rows) with \(base)." }
        let few = comparison.tooLittleData > 0 ? "; not enough data in \(comparison.tooLittleData)" : ""
        return "None of \(rows) was found to be worse, compared with \(base)\(few)."
    }

    private func answer(about row: String) -> String {
        if comparison.tooLittleData > 0 { return "Not enough data to compare the \(row) with \(base)." }
        return "The \(row) \(comparison.worse > 0 ? "is" : "was not found to be") worse, compared with \(base)."
    }

    /// The gaps, in one sentence each.
    package var notes: [String] { [incompleteness].compactMap { $0 } }

    private var incompleteness: String? {
        let shares = [report.completeness, comparison.completeness]
        guard shares.contains(where: { $0.map { $0 < 1 } ?? true }), shares != [nil, nil] else { return nil }
        // The earlier window has no rows, and no agent reported for it.
        if comparison.completeness == nil, report.completeness == 1, report.isComparedWithNothing { return nil }
        let parts = shares.map { $0.map { $0 < 1 ? FigureText.completeness($0) : "all" } ?? "an unknown part" }
        return
            "\(parts[0]) of the requests arrived, and \(parts[1]) of those in \(base); the missing ones could change a verdict"
    }

    // MARK: The rows

    private typealias Line = (sign: String, tone: Tone?, name: String, text: String)

    /// Returns the lines below a table: worse rows, gone rows, and better ones; then a line about the others. Larger changes come
    /// before smaller ones.
    func lines(on device: OutputDevice) -> String {
        let names = RowName(of: report.rows, by: report.by)
        let changed = report.rows.changed
        let worse = changed.filter { $0.verdict?.change?.isWorse == true }
        let better = changed.dropFirst(worse.count)
        let gone = comparison.gone.map { row in
            let requests = FigureText.counted(row.measures.count, "request")
            return Line("× gone", .red, names.of(row), "\(requests) in \(base), none now")
        }
        var room = max(Self.maxLines, worse.count)
        let shown = [worse.compactMap { line($0, names) }, gone, better.compactMap { line($0, names) }].map { lines in
            let first = lines.prefix(room)
            room -= first.count
            return first
        }
        var table = TextTable([.init(title: ""), .init(title: ""), .init(title: "", gap: 3)])
        for line in shown.joined() {
            let name = TerminalText.plain(line.name)
            let cut = device.isTerminal ? TextWidth.cut(name, to: TableFit.longName) : name
            table.add([.init(line.sign, line.tone), .init(cut), .init(line.text)])
        }
        return table.text(on: device) + more(than: shown.map(\.count)) + others(on: device)
    }

    /// Returns a line about the changed rows that have no line; empty if all have one.
    ///
    /// - Parameter shown: how many worse, gone and better rows have a line.
    private func more(than shown: [Int]) -> String {
        let all = [(comparison.worse, "worse"), (comparison.goneCount, "gone"), (comparison.better, "better")]
        let more = zip(all, shown).filter { $0.0 > $1 }.map { "\($0.0 - $1) \($0.1)" }
        return more.isEmpty ? "" : "  and more: \(more.joined(separator: ", "))\n"
    }

    private func line(_ row: ReportRow, _ names: RowName) -> Line? {
        guard let verdict = row.verdict else { return nil }
        let word = VerdictText.sign(verdict) + " " + VerdictText.word(verdict)
        let text = VerdictText.changes(verdict) + since(row) + TerminalText.plain(ChangeCarriersText.ending(row.who))
        return Line(word, VerdictText.tone(verdict), names.of(row), text)
    }

    /// Returns a comma and the time of a row's change; empty if the time is unknown.
    private func since(_ row: ReportRow) -> String {
        guard let now = TimeText.parse(report.to, now: 0), let changed = row.changed else { return "" }
        return ", " + changed.text { WindowText.moment($0, now: now) }
    }

    /// The rows that are neither worse nor better.
    private func others(on device: OutputDevice) -> String {
        let parts = [same, few].compactMap { $0 }
        let line = parts.joined(separator: ";  ")
        guard let columns = device.columns, TextWidth.of(line) > columns else { return line.isEmpty ? "" : line + "\n" }
        return parts.map { $0 + "\n" }.joined()
    }

    private var same: String? {
        guard comparison.same > 0 else { return nil }
        let smallest: [Verdict.SmallestChange] = report.rows.compactMap { row in
            if case .noChangeFound(let smallest) = row.verdict { smallest } else { nil }
        }
        let text = "= no change found in \(comparison.same)"
        guard !smallest.isEmpty else { return text }
        let scope = smallest.count < comparison.same ? "in the \(smallest.count) shown " : ""
        return text + " (\(scope)\(VerdictText.wouldHaveSeen(smallest)))"
    }

    private var few: String? {
        guard comparison.tooLittleData > 0 else { return nil }
        let new = report.rows.count { $0.verdict == .tooLittleData(.requests(0, in: .before)) }
        let text = "… not enough data in \(comparison.tooLittleData)"
        guard new > 0 else { return text }
        // Verdicts of rows that the report does not show are only counted.
        guard report.rows.count < comparedCount else {
            return text + ", \(new) of them new"
        }
        return text + ", \(new) of those shown \(new == 1 ? "is" : "are") new"
    }
}

/// The other side of a comparison in words.
package enum ComparisonBaseText {
    /// Returns the words after "in" and after "compared with": `the hour before`, `the hour a day earlier`, `version 1.8`.
    package static func noun(_ comparison: ReportComparison) -> String {
        let base = try? ComparisonBase(comparison.base)
        if case .versions(let before, _) = base { return "version \(TerminalText.plain(before))" }
        guard let from = TimeText.parse(comparison.from, now: 0), let to = TimeText.parse(comparison.to, now: 0),
            from < to
        else { return "the window before" }
        return "the " + window(seconds: (to - from) / 1_000_000_000, base ?? .previous)
    }

    /// Returns the words for a window: `hour before`, `15 min before`, `hour a day earlier`.
    package static func window(seconds: UInt64, _ base: ComparisonBase) -> String {
        let length =
            switch seconds {
            case 60: "minute"
            case 3600: "hour"
            case 86_400: "day"
            case 604_800: "week"
            default: FigureText.age(seconds)
            }
        return "\(length) \(adverb(base))"
    }

    /// Returns the words that follow the length of a window.
    private static func adverb(_ base: ComparisonBase) -> String {
        switch base {
        case .previous, .versions: "before"
        case .earlier where base.text == "day" || base.text == "week": "a \(base.text) earlier"
        case .earlier(let length): FigureText.age(length / 1_000_000_000) + " earlier"
        }
    }
}
