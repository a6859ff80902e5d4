import MartletStorage

/// The clocks of senders that are ahead of the collector's. Their requests are dated too late, and the latest of them after the window.
package struct ClocksAhead: Sendable, Equatable, Codable {
    package var senders: Int
    /// The largest difference that was seen, in seconds. The clock is ahead by as much at least.
    package var seconds: Double

    /// Returns `nil` if no clock is ahead.
    init?(_ account: WindowAccount) {
        guard account.clocksAhead.senders > 0 else { return nil }
        (senders, seconds) = (account.clocksAhead.senders, Double(account.clocksAhead.longest) / 1e9)
    }

    var sentence: String {
        let difference = "at least \(FigureText.seconds(seconds))"
        return senders == 1
            ? "the clock of 1 sender is \(difference) ahead: its requests are dated too late"
            : "the clocks of \(senders) senders are ahead, one by \(difference): their requests are dated too late"
    }
}
