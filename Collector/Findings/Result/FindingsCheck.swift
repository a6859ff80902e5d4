import MartletReports

/// Requires that nothing of some kinds happened in a window.
package struct FindingsCheck: Sendable {
    /// The word for all kinds.
    package static let all = "all"

    /// Empty for all kinds.
    package let kinds: Set<FindingKind>

    /// - Parameter text: ``all``, or kinds separated by commas, such as `failing,slow`.
    package init(_ text: String) throws(ParameterError) {
        kinds = text == Self.all ? [] : try FindingKind.list(text, of: "no-findings", or: Self.all)
    }

    /// Returns a result for each finding, or one if there is none.
    ///
    /// - Parameter report: the findings of these kinds in the window; `nil` if the collector does not know findings.
    package func results(for report: FindingsReport?) -> [CheckResult] {
        guard let report else {
            return [
                CheckResult(.unknown, "The collector is too old to list findings, so no-findings cannot be checked.")
            ]
        }
        guard report.findings.isEmpty else {
            let more = report.others > 0 ? [CheckResult(.fails, "\(report.others) more.")] : []
            return report.findings.map { CheckResult(.fails, Self.sentence($0)) } + more
        }
        guard report.isComplete else { return [CheckResult(.unknown, FindingsReport.gap)] }
        guard report.others == 0 else {
            return [CheckResult(.unknown, "\(report.others) findings are not listed, and may be about these requests.")]
        }
        return [CheckResult(.holds, "No findings\(words).")]
    }

    private static func sentence(_ finding: Finding) -> String {
        "\(finding.kind.rawValue): \(TerminalText.plain(finding.title))."
    }

    /// The kinds in brackets; empty for all.
    private var words: String {
        let names = FindingKind.allCases.filter(kinds.contains).map(\.rawValue)
        return names.isEmpty ? "" : " (\(names.joined(separator: ", ")))"
    }
}
