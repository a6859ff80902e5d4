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

extension FleetWatch {
    package func report(_ question: FindingsQuestion) async -> FindingsReport {
        FindingsReport(await findings(question), to: question)
    }
}
