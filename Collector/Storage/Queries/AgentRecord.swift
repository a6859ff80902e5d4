import MartletPoints
import MartletTelemetry

/// A sender, as the collector knows it.
package struct AgentRecord: Sendable, Equatable {
    package var resource: TelemetryResource
    /// The first and the latest time that the collector stored something from it, by the collector's clock.
    package var firstSeen: UnixNanoseconds
    package var lastSeen: UnixNanoseconds
    /// The latest reading; `nil` for senders that keep no ledger.
    package var ledger: LedgerReading?
    /// The arrivals of its batches of metrics; `nil` for senders that do not number their batches, and after the numbers were
    /// forgotten.
    package var arrivals: BatchArrivals?
    /// The source that each kind of its requests is counted from. Kinds that it never reported are missing. Empty for
    /// Martlet's agents, which always send metrics.
    package var statistics: [RequestKind: StatisticsSource]

    package init(
        resource: TelemetryResource, firstSeen: UnixNanoseconds, lastSeen: UnixNanoseconds, ledger: LedgerReading?,
        arrivals: BatchArrivals?, statistics: [RequestKind: StatisticsSource] = [:]
    ) {
        self.resource = resource
        self.firstSeen = firstSeen
        self.lastSeen = lastSeen
        self.ledger = ledger
        self.arrivals = arrivals
        self.statistics = statistics
    }
}

/// Senders, the most recently seen first.
package struct AgentsAnswer: Sendable, Equatable {
    package var agents: [AgentRecord]
    /// The number of senders that were left out.
    package var more: Int

    package init(agents: [AgentRecord], more: Int) {
        self.agents = agents
        self.more = more
    }
}

/// The gaps and overlaps in the sequence of an instance's batches.
package struct BatchArrivals: Sendable, Equatable {
    /// Intervals whose batch did not arrive, or not with all its parts, although a later one did. It may be on its way.
    package var missing: UInt64
    /// See ``StoreOutcome/overlapping``.
    package var overlapping: UInt64

    package init(missing: UInt64, overlapping: UInt64) {
        self.missing = missing
        self.overlapping = overlapping
    }
}
