import MartletTelemetry

/// A ``Ledger`` at a moment, as the collector receives it: the reasons for loss are the sender's own words, which may be
/// those of a newer agent.
package struct LedgerReading: Sendable, Equatable {
    package var time: UnixNanoseconds
    package var captured: UInt64
    package var delivered: UInt64
    package var waiting: UInt64
    package var dropped: [String: UInt64]
    /// Nanoseconds since the instance's start, by its wall clock; 0 if the sender does not tell.
    package var age: UInt64
    /// Nanoseconds since the instance's start in which capture was off; 0 if the sender does not tell.
    package var unwatched: UInt64
    /// CPU time that the agent has taken since the instance's start, in nanoseconds; 0 if the sender does not tell.
    package var agentCPU: UInt64

    package init(
        time: UnixNanoseconds, captured: UInt64 = 0, delivered: UInt64 = 0, waiting: UInt64 = 0,
        dropped: [String: UInt64] = [:], age: UInt64 = 0, unwatched: UInt64 = 0,
        agentCPU: UInt64 = 0
    ) {
        self.time = time
        self.captured = captured
        self.delivered = delivered
        self.waiting = waiting
        self.dropped = dropped
        self.age = age
        self.unwatched = unwatched
        self.agentCPU = agentCPU
    }
}
