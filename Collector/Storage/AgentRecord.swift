import MartletTelemetry

/// A sender, as the collector knows it.
package struct AgentRecord: Sendable, Equatable {
    package var resource: TelemetryResource
    /// When the collector took something from it, by the collector's clock.
    package var firstSeen: UnixNanoseconds
    package var lastSeen: UnixNanoseconds
    /// The latest; `nil` for senders that keep no ledger.
    package var ledger: LedgerReading?

    package init(
        resource: TelemetryResource, firstSeen: UnixNanoseconds, lastSeen: UnixNanoseconds, ledger: LedgerReading?
    ) {
        self.resource = resource
        self.firstSeen = firstSeen
        self.lastSeen = lastSeen
        self.ledger = ledger
    }
}
