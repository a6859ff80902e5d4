/// The counts of one interval of one instance.
package struct MetricsBatch: Sendable, Equatable {
    package var resource: TelemetryResource
    package var start: UnixNanoseconds
    package var end: UnixNanoseconds
    package var series: [RequestDimensions: RequestStatistics]
    /// The distributions of body sizes; empty if only their sums are known.
    package var sizes: [RequestDimensions: BodySizes]
    /// The time at which the instance began to count; its ledger counts from there.
    package var instanceStart: UnixNanoseconds
    /// The instance's ledger at `end`, with this batch's requests still waiting.
    package var ledger: Ledger
    /// Nanoseconds since the instance's start in which capture was off, so that the agent looked for no requests.
    package var unwatched: UInt64
    /// CPU time that the agent has taken since the instance's start, in nanoseconds; 0 if it is not known.
    package var agentCPU: UInt64

    package init(
        resource: TelemetryResource, start: UnixNanoseconds, end: UnixNanoseconds,
        series: [RequestDimensions: RequestStatistics], sizes: [RequestDimensions: BodySizes] = [:],
        instanceStart: UnixNanoseconds = 0, ledger: Ledger,
        unwatched: UInt64 = 0, agentCPU: UInt64 = 0
    ) {
        self.resource = resource
        self.start = start
        self.end = end
        self.series = series
        self.sizes = sizes
        self.instanceStart = instanceStart
        self.ledger = ledger
        self.unwatched = unwatched
        self.agentCPU = agentCPU
    }

    /// The number of requests that the batch stands for.
    package var requests: UInt64 { series.values.reduce(0) { $0 &+ $1.requests } }
}
