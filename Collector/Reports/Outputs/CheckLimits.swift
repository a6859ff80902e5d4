import MartletStorage

/// The limits of a check.
package struct CheckLimits: Sendable {
    private let rows: [any RowCheck]
    /// `nil` if there is no objective.
    package let burnRate: BurnRateCheck?

    /// - Parameters:
    ///   - maxFailureRate: a share of failed requests, such as `1%`.
    ///   - maxP99: a duration, such as `800ms`.
    ///   - objective: a share of successful requests, such as `99.9%`.
    ///   - isCompared: whether rows must not be worse than in another window.
    ///   - hasOthers: whether something is checked that needs no report.
    ///   - window: the checked window.
    package init(
        maxFailureRate: String?, maxP99: String?, objective: String?, isCompared: Bool, hasOthers: Bool = false,
        window: TimeWindow
    ) throws(ParameterError) {
        guard maxFailureRate != nil || maxP99 != nil || objective != nil || isCompared || hasOthers else {
            throw ParameterError(
                "there is nothing to check; give max-failure-rate, max-p99, slo, compare or no-findings")
        }
        var rows: [any RowCheck] = []
        if let maxFailureRate {
            rows.append(FailureRateCheck(limit: try Self.share(maxFailureRate, of: "max-failure-rate")))
        }
        if let maxP99 {
            guard let length = TimeText.nanoseconds(maxP99) else {
                throw ParameterError("max-p99 must be a length of time with its unit, such as 800ms or 1.5s")
            }
            rows.append(LatencyCheck(limit: length))
        }
        self.rows = rows
        if let objective {
            let share = try Self.share(objective, of: "slo")
            guard share > 0, share < 1 else { throw ParameterError("slo must be above 0% and below 100%") }
            burnRate = try BurnRateCheck(objective: share, in: window)
        } else {
            burnRate = nil
        }
    }

    /// Judges a report with rows by all limits except the objective, which needs separate reports on its windows.
    package func results(for report: Report) -> [CheckResult] {
        rows.map { $0.result(for: report) } + (report.compare == nil ? [] : [ComparisonCheck.result(for: report)])
    }

    /// Reads a percentage.
    private static func share(_ text: String, of name: String) throws(ParameterError) -> Double {
        let digits = text.dropLast()
        guard text.hasSuffix("%"), digits.utf8.allSatisfy({ "0123456789.".utf8.contains($0) }),
            let percent = Double(digits), percent <= 100
        else { throw ParameterError("\(name) must be a share from 0% to 100%, such as 1% or 99.9%") }
        return percent / 100
    }
}

/// Whether a limit is met, and a sentence about it.
package struct CheckResult: Sendable, Equatable {
    package enum Outcome: Sendable, Equatable {
        case holds
        case fails
        /// There is no data, or the answer depends on requests that did not arrive.
        case unknown
    }

    package var outcome: Outcome
    package var sentence: String

    package init(_ outcome: Outcome, _ sentence: String) {
        self.outcome = outcome
        self.sentence = sentence
    }

    /// Returns the outcome of all limits together. An exceeded limit takes precedence over one without enough data.
    package static func outcome(of results: [CheckResult]) -> Outcome {
        let outcomes = results.map(\.outcome)
        if outcomes.contains(.fails) { return .fails }
        return outcomes.contains(.unknown) || outcomes.isEmpty ? .unknown : .holds
    }

    /// Returns a line with a sign in front.
    package func line(on device: OutputDevice) -> String {
        let (sign, tone): (String, Tone) =
            switch outcome {
            case .holds: ("✓", .green)
            case .fails: ("✗", .red)
            case .unknown: ("?", .yellow)
            }
        return device.paint(sign, tone) + " " + sentence + "\n"
    }
}
