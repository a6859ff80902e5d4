import MartletTelemetry

/// A sender, as the collector knows it.
package struct AgentRecord: Sendable, Equatable {
    package var resource: TelemetryResource
    /// When the collector took something from it, by the collector's clock.
    package var firstSeen: UnixNanoseconds
    package var lastSeen: UnixNanoseconds
    /// The latest; `nil` for senders that keep no ledger.
    package var ledger: LedgerReading?
    /// Of metrics; `nil` for senders that do not number their batches, and after the numbers were forgotten.
    package var arrivals: BatchArrivals?
    /// What its requests are counted from; kinds of which it told nothing are missing.
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

/// What the sequence of an instance's batches tells.
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
