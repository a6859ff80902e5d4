import MartletStorage

/// A limit for every row of a report.
protocol RowCheck: Sendable {
    /// Returns whether a row meets the limit; `nil` if the answer depends on the missing requests.
    func holds(_ row: ReportRow, in report: Report) -> Bool?
    /// Returns the figure that the limit applies to. The row with the largest figure is named.
    func figure(_ row: ReportRow) -> Double

    /// Returns a sentence about all rows, of which `row` has the largest figure.
    ///
    /// - Parameter word: the word for a row, such as `endpoint`.
    func allHold(_ word: String, _ row: ReportRow, in report: Report) -> String
    /// Returns a sentence about a row.
    func sentence(_ name: String, _ row: ReportRow, in report: Report) -> String
}

extension RowCheck {
    /// Judges a report with rows.
    func result(for report: Report) -> CheckResult {
        let failing = report.rows.filter { holds($0, in: report) == false }
        let open = report.rows.filter { holds($0, in: report) == nil }
        let names = RowName(of: report.rows, by: report.by)
        let judged = (failing.isEmpty ? (open.isEmpty ? report.rows : open) : failing)
            .sorted { figure($0) > figure($1) }
        guard let worst = judged.first else { return CheckResult(.unknown, "There are no requests.") }
        let name = TerminalText.plain(names.of(worst))
        let others = names.list(of: judged.dropFirst()).map { " Also: \($0)." } ?? ""
        let sentence = sentence(name, worst, in: report)
        if !failing.isEmpty { return CheckResult(.fails, sentence + others) }
        if !open.isEmpty { return CheckResult(.unknown, sentence + " The missing requests decide." + others) }
        return CheckResult(
            .holds, report.rows.count == 1 ? sentence : allHold(report.by.wordForRow, worst, in: report))
    }
}

extension Report {
    /// Returns the share of captured requests that arrived: those of the row's service, or of all senders if the rows do not
    /// separate services. `nil` if no agent reported on it.
    func completeness(of row: ReportRow) -> Double? { by.contains(.service) ? row.completeness : completeness }

    /// Returns the completeness in brackets for a sentence about a row.
    func completenessInWords(of row: ReportRow) -> String { Self.inWords(completeness(of: row)) }

    /// A comma and the lowest completeness of the rows; empty if all of their requests are known to have arrived.
    var gapInWords: String {
        let shares = rows.map { completeness(of: $0) }
        let known = shares.compactMap(\.self)
        guard let least = known.min() else { return ", " + Self.inWords(nil) }
        if known.count < shares.count { return ", completeness unknown for some" }
        let isLeast = known.contains { $0 > least }
        return least < 1 ? ", \(isLeast ? "at least " : "")\(Self.inWords(least))" : ""
    }

    /// The completeness of all senders.
    var completenessInWords: String { Self.inWords(completeness) }

    private static func inWords(_ completeness: Double?) -> String {
        guard let completeness else { return "completeness unknown" }
        return completeness < 1 ? "\(FigureText.completeness(completeness)) arrived" : "nothing lost"
    }
}

/// A limit on the share of failed requests of each row.
struct FailureRateCheck: RowCheck {
    /// 0...1
    let limit: Double

    func holds(_ row: ReportRow, in report: Report) -> Bool? { rate(row, in: report).isAtMost(limit) }

    func figure(_ row: ReportRow) -> Double { row.measures.failures.rate }

    func allHold(_ word: String, _ row: ReportRow, in report: Report) -> String {
        let most = percent(figure(row)).drop { $0 == "<" }
        return "No \(word) fails in more than \(most) of its requests (\(limitInWords)\(report.gapInWords))."
    }

    func sentence(_ name: String, _ row: ReportRow, in report: Report) -> String {
        let range = rate(row, in: report).range
        let between = "between \(FigureText.percent(range.lowerBound)) and \(percent(range.upperBound)), "
        return "\(name) fails in \(percent(figure(row))) of \(FigureText.counted(row.measures.count, "request"))"
            + " (\(limitInWords), \(range.lowerBound < range.upperBound ? between : "")\(report.completenessInWords(of: row)))."
    }

    /// The limit without trailing zeros: `limit 5 %`.
    private var limitInWords: String {
        var digits = FigureText.percent(limit)
        while digits.hasSuffix("0") { digits.removeLast() }
        if digits.hasSuffix(".") { digits.removeLast() }
        return "limit \(digits) %"
    }

    private func rate(_ row: ReportRow, in report: Report) -> PossibleRate {
        PossibleRate(row.measures.failures.rate, completeness: report.completeness(of: row))
    }

    private func percent(_ share: Double) -> String { FigureText.percent(share) + " %" }
}

/// A limit on the 99th percentile of each row's durations.
struct LatencyCheck: RowCheck {
    /// Milliseconds.
    let limit: Double

    /// - Parameter limit: nanoseconds.
    init(limit: UInt64) {
        self.limit = Double(limit) / 1e6
    }

    func holds(_ row: ReportRow, in report: Report) -> Bool? {
        let p99 = figure(row)
        guard let bounds = row.p99Bounds else { return p99 <= limit }
        if let highest = bounds.to, highest <= limit { return true }
        return bounds.from > limit ? false : nil
    }

    func figure(_ row: ReportRow) -> Double { row.measures.latency.p99 }

    func allHold(_ word: String, _ row: ReportRow, in report: Report) -> String {
        "No \(word) has a p99 above \(duration(figure(row))) (limit \(duration(limit))\(report.gapInWords))."
    }

    func sentence(_ name: String, _ row: ReportRow, in report: Report) -> String {
        let between = row.p99Bounds.map { bounds in
            "between \(duration(bounds.from)) and \(bounds.to.map(duration) ?? "any time"), "
        }
        return "p99 of \(name) is \(duration(figure(row)))"
            + " (limit \(duration(limit)), \(between ?? "")\(report.completenessInWords(of: row)))."
    }

    private func duration(_ milliseconds: Double) -> String {
        milliseconds < 1000
            ? "\(FigureText.figure(milliseconds)) ms" : "\(FigureText.figure(milliseconds / 1000)) s"
    }
}

/// The range of the share of failed requests, given that some requests did not arrive.
///
/// With f failed requests of n, and m that are missing, the share lies in f/(n+m) ... (f+m)/(n+m): all of the missing ones may
/// have succeeded, or failed. Missing requests are assumed to be distributed over groups like those that arrived.
struct PossibleRate: Equatable {
    /// The share of failed requests among those that arrived, 0...1.
    let seen: Double
    let range: ClosedRange<Double>

    /// - Parameter completeness: n / (n + m); `nil` counts as 1, because no requests are known to be missing.
    init(_ rate: Double, completeness: Double?) {
        let arrived = min(max(completeness ?? 1, 0), 1)
        seen = min(max(rate, 0), 1)
        range = arrived * seen...arrived * seen + (1 - arrived)
    }

    /// Returns whether the share is at most `limit`; `nil` if the answer depends on the missing requests.
    func isAtMost(_ limit: Double) -> Bool? {
        // A share exactly at its limit may be rounded to above it.
        let limit = limit * (1 + 1e-9)
        if range.upperBound <= limit { return true }
        return range.lowerBound > limit ? false : nil
    }
}

/// Requires that no row is worse than in another window (``Comparison``).
enum ComparisonCheck {
    /// Judges a compared report with rows.
    static func result(for report: Report) -> CheckResult {
        guard let text = ComparisonText(report), let answer = text.answer, let comparison = report.compare else {
            return CheckResult(.unknown, "There are no requests to compare.")
        }
        let notes =
            text.notes.map { " " + $0.capitalizedFirst + "." }.joined()
            + gone(comparison, report.by)
        if comparison.worse > 0 { return CheckResult(.fails, answer + worst(in: report) + notes) }
        let isJudged = comparison.better + comparison.same > 0
        guard isJudged, !report.rows.contains(where: { mayBeWorse($0, in: report) }) else {
            return CheckResult(.unknown, answer + notes)
        }
        return CheckResult(.holds, answer + notes)
    }

    /// Names the worse rows, the one that changed the most first.
    private static func worst(in report: Report) -> String {
        let names = RowName(of: report.rows, by: report.by)
        let worse = report.rows.changed.filter { $0.verdict?.change?.isWorse == true }
        guard let row = worse.first, let verdict = row.verdict else { return "" }
        let others = names.list(of: worse.dropFirst()).map { " Also worse: \($0)." } ?? ""
        return " \(TerminalText.plain(names.of(row))): \(VerdictText.changes(verdict))." + others
    }

    /// Names the rows that have no requests any more. No test judges them.
    private static func gone(_ comparison: ReportComparison, _ by: [Dimension]) -> String {
        guard let names = RowName(of: comparison.gone, by: by).list(of: comparison.gone) else { return "" }
        let (base, have) = (ComparisonBaseText.noun(comparison), comparison.goneCount == 1 ? "has" : "have")
        return " \(by.rows(comparison.goneCount)) had requests in \(base) and \(have) none now: \(names)."
    }

    /// Returns whether a row would have been worse if all of its missing requests had failed.
    private static func mayBeWorse(_ row: ReportRow, in report: Report) -> Bool {
        guard case .noChangeFound(let smallest)? = row.verdict, let seen = smallest.failures else { return false }
        let rate = PossibleRate(row.measures.failures.rate, completeness: report.completeness(of: row))
        return rate.range.upperBound - rate.seen >= seen
    }
}
