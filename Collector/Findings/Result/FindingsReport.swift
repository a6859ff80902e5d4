import MartletReports
import MartletStorage
import MartletTelemetry

/// What happened in a window, as the API and the command report it.
package struct FindingsReport: Sendable, Equatable, Codable {
    /// The window, RFC 3339, UTC.
    package var from: String
    package var to: String
    /// The most expensive first, and at most ten.
    package var findings: [Finding]
    /// The number of all.
    package var count: Int
    /// The end of the last finding, RFC 3339, UTC; `nil` if one goes on, or if none is known.
    package var quietSince: String?
    /// Whether everything was read that the findings come from. Otherwise some may be missing.
    package var isComplete: Bool

    private enum CodingKeys: String, CodingKey {
        case from, to, findings, count
        case quietSince = "quiet_since"
        case isComplete = "is_complete"
    }

    package init(_ answer: FindingsAnswer, to question: FindingsQuestion) {
        (from, to) = (TimeText.exact(question.window.from), TimeText.exact(question.window.to))
        (findings, count, isComplete) = (answer.findings, answer.count, answer.isComplete)
        quietSince = answer.quietSince.map(TimeText.format)
    }

    package func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(from, forKey: .from)
        try values.encode(to, forKey: .to)
        try values.encode(findings, forKey: .findings)
        try values.encode(count, forKey: .count)
        try values.encode(quietSince, forKey: .quietSince)
        try values.encode(isComplete, forKey: .isComplete)
    }
}

extension FindingsReport {
    /// Returns the listed findings that a filter of requests selects, also by dimensions that the question cannot have. Findings
    /// that are not listed stay counted.
    package func selecting(_ filter: RequestFilter) -> FindingsReport {
        var report = self
        report.findings = findings.filter { $0.isSelected(by: filter) }
        report.count -= findings.count - report.findings.count
        return report
    }

    /// The findings that are counted and not listed.
    var others: Int { max(0, count - findings.count) }

    /// Why findings may be missing.
    static let gap =
        "Findings may be missing: the collector has just started, or the window has more than it can read or begins more than "
        + "30 days ago."
}
