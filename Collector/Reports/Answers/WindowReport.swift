/// An answer about a window, and the facts that tell whether its figures can be trusted.
package protocol WindowReport {
    /// The window of the figures, RFC 3339, UTC.
    var from: String { get }
    var to: String { get }
    /// The share of captured requests that arrived, times the share of time in which capture was on, 0...1; `nil` if no agent
    /// reported on this time.
    var completeness: Double? { get }
    /// `nil` if capture was on all the time.
    var unwatched: UnwatchedTime? { get }
    /// Senders of which points of cumulative counters were not counted; `nil` if there is none.
    var uncountedSenders: Int? { get }
    /// `nil` if the clock of no sender is ahead.
    var clocksAhead: ClocksAhead? { get }
    /// Points that are missing from the figures because the disk returned them damaged; `nil` if none is.
    var damagedPoints: Int? { get }
    /// Requests that are known from spans alone; `nil` if there are none.
    var fromSpans: UInt64? { get }
    /// The latest time at which a request is known to have occurred, RFC 3339, UTC; `nil` if there are none.
    var lastSeen: String? { get }
}

extension Report: WindowReport {
    package var fromSpans: UInt64? { totals.measures.fromSpans }
    package var lastSeen: String? { totals.lastSeen }
}
