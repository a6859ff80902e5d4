import MartletTelemetry

/// A sender, as the collector knows it.
package struct AgentRecord: Sendable, Equatable {
    package var resource: TelemetryResource
    /// The first and the latest time that the collector stored something from it, by the collector's clock.
    package var firstSeen: UnixNanoseconds
    package var lastSeen: UnixNanoseconds
    /// The latest end of its points, by its own clock; 0 if it has sent none.
    package var latestEnd: UnixNanoseconds
    /// The latest reading; `nil` for senders that keep no ledger.
    package var ledger: LedgerReading?
    /// The gaps in its batches of metrics; `nil` for senders that do not number their batches, and after the numbers were
    /// forgotten.
    package var gaps: BatchGaps?
    /// The source that each kind of its requests is counted from. Kinds that it never reported are missing. Empty for
    /// Martlet's agents, which always send metrics.
    package var statistics: [RequestKind: StatisticsSource]
    /// The figures of its process in the last minute that it told of; `nil` if it told of none lately.
    package var process: ProcessStatistics?

    /// The start of its process, as far as the collector knows it: the time at which it was first heard of, or an earlier one
    /// that its ledger tells, by its own clock.
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
