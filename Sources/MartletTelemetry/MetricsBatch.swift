/// The counts of one interval of one instance, and the figures of its process.
package struct MetricsBatch: Sendable, Equatable {
    package var resource: TelemetryResource
    package var start: UnixNanoseconds
    package var end: UnixNanoseconds
    package var series: [RequestDimensions: RequestStatistics]
    /// The distributions of body sizes; empty if only their sums are known.
    package var sizes: [RequestDimensions: BodySizes]
    /// When the instance began to count; its ledger counts from there.
    package var instanceStart: UnixNanoseconds
    /// The instance's ledger at `end`, with this batch's requests still waiting.
    package var ledger: Ledger
    /// Nanoseconds since the instance's start in which capture was off.
    package var captureGap: UInt64
    /// CPU time that the agent has used since the instance's start, in nanoseconds; 0 if it is unknown.
    package var agentCPU: UInt64
    /// The process's figures in the interval; empty if they are unknown.
    package var process: ProcessStatistics
    /// How the instance ended, if this is its last batch and reports it; empty otherwise.
    package var ends: [InstanceEnd] = []

    package init(
        resource: TelemetryResource, start: UnixNanoseconds, end: UnixNanoseconds,
        series: [RequestDimensions: RequestStatistics], sizes: [RequestDimensions: BodySizes] = [:],
        instanceStart: UnixNanoseconds = 0, ledger: Ledger, captureGap: UInt64 = 0, agentCPU: UInt64 = 0,
        process: ProcessStatistics = ProcessStatistics()
    ) {
        self.resource = resource
        self.start = start
        self.end = end
        self.series = series
        self.sizes = sizes
        self.instanceStart = instanceStart
        self.ledger = ledger
        self.captureGap = captureGap
        self.agentCPU = agentCPU
        self.process = process
    }

    /// The number of requests in the batch.
    package var requests: UInt64 { series.values.reduce(0) { $0 &+ $1.requests } }
}

/// The kept spans of one interval.
package struct DetailsBatch: Sendable, Equatable {
    package var resource: TelemetryResource
    package var details: [SpanRecord]

    package init(resource: TelemetryResource, details: [SpanRecord]) {
        self.resource = resource
        self.details = details
    }
}

/// The ledger of an agent, in requests: `captured = delivered + waiting + dropped`, always.
package struct Ledger: Sendable, Equatable {
    /// Requests captured since the process started.
    package var captured: UInt64
    /// Requests in batches that the collector acknowledged.
    package var delivered: UInt64
    /// Requests in memory or in the buffer.
    package var waiting: UInt64
    /// Requests that will never be delivered, by reason; empty as long as no request was lost.
    package var dropped: [DropReason: UInt64]

    package init(
        captured: UInt64 = 0, delivered: UInt64 = 0, waiting: UInt64 = 0, dropped: [DropReason: UInt64] = [:]
    ) {
        self.captured = captured
        self.delivered = delivered
        self.waiting = waiting
        self.dropped = dropped
    }
}

/// Why requests were lost. The raw value is the `martlet.reason` attribute on the wire.
package enum DropReason: String, Sendable, Hashable, CaseIterable {
    /// The buffer was full (`MARTLET_BUFFER_MAX`): the oldest batches were deleted, although batches had been merged
    /// into coarser intervals.
    case bufferFull = "buffer_full"
    /// The collector refused the batch for good, or took it without some of its requests.
    case rejected
    /// The batch's file was missing when it was to be sent: another instance of the service deleted it to make room, or
    /// a person or another program removed it.
    case gone
    /// The batch's file is damaged: the disk lost or changed some of its bytes. The file is in `quarantine/`.
    case corrupt
    /// The collector refused a batch of that size, and the batch could not be divided any further.
    case tooLarge = "too_large"
    /// An upload had begun, and its outcome stayed unknown for so long that the collector may have forgotten the batch.
    /// If the batch were sent again, it might be counted twice.
    case expired
    /// A process of another version of Martlet dropped the requests, for a reason unknown to this version.
    case other
}

/// A point in time in the unit of OTLP: nanoseconds since 1970-01-01T00:00:00Z.
package typealias UnixNanoseconds = UInt64
