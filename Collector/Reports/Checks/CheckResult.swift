/// The answer to the question whether a limit holds, in a sentence.
package struct CheckResult: Sendable, Equatable {
    package enum Outcome: Sendable, Equatable {
        case holds
        case fails
        /// There is no data, or what did not arrive decides.
        case unknown
    }

    package var outcome: Outcome
    package var sentence: String

    package init(_ outcome: Outcome, _ sentence: String) {
        self.outcome = outcome
        self.sentence = sentence
    }

    /// Returns the outcome of all limits together: a limit that does not hold goes before one that nobody can tell of.
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
