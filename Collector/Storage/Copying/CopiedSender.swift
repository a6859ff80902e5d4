import MartletPoints
import MartletTelemetry

/// A sender with all that it told about itself.
package struct CopiedSender: Sendable {
    /// The kinds of requests that it reported, each with the telemetry that did. None for Martlet's agents.
    package typealias Reported = (kind: RequestKind, source: StatisticsSource)
    /// A reading of its ledger, and the requests in the batch that brought it.
    package typealias Reading = (ledger: LedgerReading, requests: UInt64)
    /// The latest point of a cumulative stream, and the arrival of its process's latest point by the collector's clock. The store
    /// has no dimensions of it.
    package typealias LatestPoint = (point: CumulativePoint, arrival: UnixNanoseconds)

    package var resource: TelemetryResource
    /// The first and the latest batch, by the collector's clock.
    package var firstSeen: UnixNanoseconds
    package var lastSeen: UnixNanoseconds
    /// The latest end of a point, by the sender's clock.
    package var latestEnd: UnixNanoseconds
    package var reported: [Reported] = []
    package var readings: [Reading] = []
    package var process: [ProcessPoint] = []
    package var processTotals: [ProcessTotal] = []
    package var streams: [LatestPoint] = []

    package init(
        _ resource: TelemetryResource, firstSeen: UnixNanoseconds, lastSeen: UnixNanoseconds,
        latestEnd: UnixNanoseconds
    ) {
        self.resource = resource
        self.firstSeen = firstSeen
        self.lastSeen = lastSeen
        self.latestEnd = latestEnd
    }
}
