import MartletStorage

/// The judgement of a sender's clock. A point arrives after it ended, so an end in the future is a clock that is ahead. An end in
/// the past may also be a batch that came late.
package enum AgentClock: Sendable, Equatable {
    case unknown
    case fits
    /// Seconds that the clock is ahead at least.
    case ahead(Double)
    /// Seconds from the end of the sender's latest interval to its arrival.
    case late(Double)

    /// Seconds that a clock may be ahead and still fit.
    private static let tolerance = Double(WindowAccount.ClocksAhead.tolerance) / 1e9
    /// Seconds after which agents have delivered an interval unless they could not.
    private static let usual = 60.0
}

extension AgentsReport.Agent {
    /// Only a sender with a ledger tells its time with each batch.
    package var clock: AgentClock { AgentClock(seconds: clockSeconds, hasLedger: ledger != nil) }
}

extension AgentClock {
    fileprivate init(seconds: Double?, hasLedger: Bool) {
        guard let seconds else {
            self = .unknown
            return
        }
        self = seconds > Self.tolerance ? .ahead(seconds) : hasLedger && -seconds > Self.usual ? .late(-seconds) : .fits
    }

    /// `nil` for a clock that fits or is not known.
    var sentence: String? {
        switch self {
        case .unknown, .fits: nil
        case .ahead(let seconds): "its clock is at least \(FigureText.seconds(seconds)) ahead of the collector's"
        case .late(let seconds):
            """
            its latest interval came \(FigureText.seconds(seconds)) after it ended: its clock is behind, or its batches are \
            late
            """
        }
    }
}
