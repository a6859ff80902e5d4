/// The metrics of one sender in one batch: the collector's side of a ``MetricsBatch``. The intervals may differ from
/// point to point, and senders other than Martlet keep no ledger.
package struct InstanceMetrics: Sendable, Equatable {
    package var resource: TelemetryResource
    package var points: [RequestPoint]
    /// The points of cumulative metrics; a Martlet agent sends none for requests.
    package var cumulative: [CumulativePoint]
    package var ledger: LedgerReading?

    package init(
        resource: TelemetryResource, points: [RequestPoint], cumulative: [CumulativePoint] = [],
        ledger: LedgerReading? = nil
    ) {
        self.resource = resource
        self.points = points
        self.cumulative = cumulative
        self.ledger = ledger
    }

    /// The number of requests that ``points`` stand for.
    package var requests: UInt64 { points.reduce(0) { $0 &+ $1.statistics.duration.count } }
}

/// The requests of one series in one interval, `(start, end]`.
package struct RequestPoint: Sendable, Equatable {
    package var series: SharedDimensions
    package var start: UnixNanoseconds
    package var end: UnixNanoseconds
    package var statistics: RequestStatistics

    package var dimensions: RequestDimensions { series.value }

    package init(
        dimensions: RequestDimensions, start: UnixNanoseconds, end: UnixNanoseconds, statistics: RequestStatistics
    ) {
        self.init(series: SharedDimensions(dimensions), start: start, end: end, statistics: statistics)
    }

    package init(
        series: SharedDimensions, start: UnixNanoseconds, end: UnixNanoseconds, statistics: RequestStatistics
    ) {
        self.series = series
        self.start = start
        self.end = end
        self.statistics = statistics
    }
}
