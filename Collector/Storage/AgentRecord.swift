import MartletTelemetry

/// A sender, as the collector knows it.
package struct AgentRecord: Sendable, Equatable {
    package var resource: TelemetryResource
    /// The first and the latest time at which the collector stored data of this sender, by the collector's clock.
    package var firstSeen: UnixNanoseconds
    package var lastSeen: UnixNanoseconds
    /// The latest end of its points, by its own clock; 0 if it has sent none.
    package var latestEnd: UnixNanoseconds
    /// The latest reading; `nil` for senders that keep no ledger.
    package var ledger: LedgerReading?
    /// The gaps in its batches of metrics; `nil` if the sender does not number its batches, or once the numbers are forgotten.
    package var gaps: BatchGaps?
    /// The source that each kind of request is counted from, without kinds that the sender never reported. Empty for Martlet's
    /// agents, which always send metrics.
    package var statistics: [RequestKind: StatisticsSource]
    /// The figures of its process in the last minute that it reported; `nil` if it has reported none lately.
    package var process: ProcessStatistics?

    /// The start of its process, as far as the collector knows it: the time at which the sender was first seen, or an earlier one
    /// from its ledger, by the sender's clock.
    package var began: UnixNanoseconds {
        guard let ledger, ledger.age > 0, ledger.age < ledger.time else { return firstSeen }
        return min(firstSeen, ledger.time - ledger.age)
    }

    package init(
        resource: TelemetryResource, firstSeen: UnixNanoseconds, lastSeen: UnixNanoseconds,
        latestEnd: UnixNanoseconds = 0,
        ledger: LedgerReading?, gaps: BatchGaps?, statistics: [RequestKind: StatisticsSource] = [:],
        process: ProcessStatistics? = nil
    ) {
        self.resource = resource
        self.firstSeen = firstSeen
        self.lastSeen = lastSeen
        self.latestEnd = latestEnd
        self.ledger = ledger
        self.gaps = gaps
        self.statistics = statistics
        self.process = process
    }
}

/// Senders, the most recently seen first.
package struct AgentsAnswer: Sendable, Equatable {
    package var agents: [AgentRecord]
    /// The number of senders past the limit.
    package var more: Int

    package init(agents: [AgentRecord], more: Int) {
        self.agents = agents
        self.more = more
    }
}
