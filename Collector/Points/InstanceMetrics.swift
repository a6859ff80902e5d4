import MartletTelemetry

/// The metrics of one sender in one batch: the collector's side of a ``MetricsBatch``. The intervals may differ from
/// point to point, and senders other than Martlet keep no ledger.
package struct InstanceMetrics: Sendable, Equatable {
    package var resource: TelemetryResource
    package var points: [RequestPoint]
    /// The points of cumulative metrics; a Martlet agent sends none for requests.
    package var cumulative: [CumulativePoint]
    package var ledger: LedgerReading?
    /// The figures of the process, and its counters from senders of cumulative metrics.
    package var process: [ProcessPoint]
    package var processTotals: [ProcessTotal]

    package init(
        resource: TelemetryResource, points: [RequestPoint], cumulative: [CumulativePoint] = [],
        ledger: LedgerReading? = nil, process: [ProcessPoint] = [], processTotals: [ProcessTotal] = []
    ) {
        self.resource = resource
        self.points = points
        self.cumulative = cumulative
        self.ledger = ledger
        self.process = process
        self.processTotals = processTotals
    }

    /// The number of requests that ``points`` stand for.
    package var requests: UInt64 { points.reduce(0) { $0 &+ $1.statistics.requests } }
}
