import MartletTelemetry

/// A sender, as the collector knows it.
package struct AgentRecord: Sendable, Equatable {
    package var resource: TelemetryResource
    /// The first and the latest time at which the collector stored data of this sender, by the collector's clock.
    package var firstSeen: UnixNanoseconds
    package var lastSeen: UnixNanoseconds
    /// The latest end of the sender's points, by the sender's clock; 0 if it has sent none.
    package var latestEnd: UnixNanoseconds
    /// The latest reading of the sender's ledger; `nil` if it keeps none.
    package var ledger: LedgerReading?
    /// The gaps in the sender's metrics batches; `nil` if it does not number them, or once the store has forgotten the numbers.
    package var gaps: BatchGaps?
    /// The source of the counts for each kind of request that the sender has reported. Empty for Martlet's agents, which always
    /// send metrics.
    package var statistics: [RequestKind: StatisticsSource]
    /// The figures of the sender's process in the last minute that it reported; `nil` if there are no recent ones.
    package var process: ProcessStatistics?
    /// Whether the sender is several processes with one identity: see ``StreamWriters/isShared``.
    package var isShared: Bool

    /// The start of the sender's process, as far as the collector knows: the time at which the sender was first seen or, if
    /// earlier, the start according to its ledger, by the sender's clock.
    package var began: UnixNanoseconds {
        guard let ledger, ledger.age > 0, ledger.age < ledger.time else { return firstSeen }
        return min(firstSeen, ledger.time - ledger.age)
    }

    /// How far the sender's clock is ahead at least, in nanoseconds: from its latest arrival to the end of its latest interval. `nil`
    /// if the clock is not known to be ahead.
    package var lead: UInt64? {
        guard latestEnd > lastSeen, latestEnd - lastSeen > WindowAccount.ClocksAhead.tolerance else { return nil }
        return latestEnd - lastSeen
    }

    package init(
        resource: TelemetryResource, firstSeen: UnixNanoseconds, lastSeen: UnixNanoseconds,
        latestEnd: UnixNanoseconds = 0,
        ledger: LedgerReading?, gaps: BatchGaps?, statistics: [RequestKind: StatisticsSource] = [:],
        process: ProcessStatistics? = nil, isShared: Bool = false
    ) {
        self.resource = resource
        self.firstSeen = firstSeen
        self.lastSeen = lastSeen
        self.latestEnd = latestEnd
        self.ledger = ledger
        self.gaps = gaps
        self.statistics = statistics
        self.process = process
        self.isShared = isShared
    }
}

/// Senders, the most recently seen first.
package struct AgentsAnswer: Sendable, Equatable {
    package var agents: [AgentRecord]
    /// The number of senders that the limit left out.
    package var more: Int

    package init(agents: [AgentRecord], more: Int) {
        self.agents = agents
        self.more = more
    }
}
