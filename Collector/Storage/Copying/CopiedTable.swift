import MartletTelemetry

/// The parts that a copy of a store goes through, in this order. Numbers of batches and the state of streams come first: once
/// they are copied, senders may go on with the store that takes the copy.
package enum CopiedTable: String, Sendable, CaseIterable {
    case batches
    case senders
    case points
    case details
    case calls
}

/// Some rows of a table, in the order of their numbers.
package struct CopiedPart: Sendable {
    package enum Rows: Sendable {
        case batches([CopiedBatches])
        case senders([CopiedSender])
        case points([CopiedPoints])
        case details([CopiedDetail])
        case calls([RememberedCall])
    }

    package let rows: Rows
    /// The number of the last row: the next part begins after it.
    package let last: Int64
    /// Points and spans up to that row that could not be read.
    package let damaged: Int

    package init(_ rows: Rows, last: Int64, damaged: Int = 0) {
        (self.rows, self.last, self.damaged) = (rows, last, damaged)
    }
}

/// The batches of one instance and signal that arrived.
package struct CopiedBatches: Sendable, Equatable {
    package var instance: String
    package var signal: Signal
    /// The sequences that arrived whole, in ascending order.
    package var whole: [ClosedRange<UInt64>]
    /// The batches of which only a part arrived, each with that part.
    package var parts: [BatchID]
    package var sequences: BatchSequences
    /// The latest arrival, by the collector's clock.
    package var received: UnixNanoseconds

    package init(
        instance: String, signal: Signal, whole: [ClosedRange<UInt64>], parts: [BatchID], sequences: BatchSequences,
        received: UnixNanoseconds
    ) {
        self.instance = instance
        self.signal = signal
        self.whole = whole
        self.parts = parts
        self.sequences = sequences
        self.received = received
    }
}

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

/// Points that one row of a store has.
package struct CopiedPoints: Sendable {
    /// The row's number, which no other row of the store has.
    package var number: Int64
    package var resource: TelemetryResource
    package var points: [RequestPoint]

    package init(number: Int64, resource: TelemetryResource, points: [RequestPoint]) {
        self.number = number
        self.resource = resource
        self.points = points
    }
}

/// A kept span.
package struct CopiedDetail: Sendable {
    /// The span's number, which grows in the order that spans came in.
    package var number: Int64
    package var resource: TelemetryResource
    package var span: SpanRecord
    /// The arrival, by the collector's clock.
    package var received: UnixNanoseconds

    package init(number: Int64, resource: TelemetryResource, span: SpanRecord, received: UnixNanoseconds) {
        self.number = number
        self.resource = resource
        self.span = span
        self.received = received
    }
}
