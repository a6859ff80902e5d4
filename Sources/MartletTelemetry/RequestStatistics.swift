/// The statistics of all requests of one series in one interval. They merge exactly. A plain value.
package struct RequestStatistics: Sendable, Equatable {
    /// The durations, in seconds.
    package var duration = ExponentialHistogram()
    /// Body bytes, summed over the interval.
    package var bytesSent: UInt64 = 0
    package var bytesReceived: UInt64 = 0
    /// The phases; empty if the instrument does not see them.
    package var phases = PhaseTotals()

    /// The number of requests: each has one duration. 0 if the statistics hold only body sizes.
    package var requests: UInt64 { duration.count }

    package init() {}

    package init(
        duration: ExponentialHistogram, bytesSent: UInt64 = 0, bytesReceived: UInt64 = 0,
        phases: PhaseTotals = PhaseTotals()
    ) {
        self.duration = duration
        self.bytesSent = bytesSent
        self.bytesReceived = bytesReceived
        self.phases = phases
    }

    /// Adds one request.
    package mutating func record(
        seconds: Double, bytesSent: UInt64, bytesReceived: UInt64, phases: PhaseDurations = PhaseDurations()
    ) {
        duration.record(seconds)
        self.bytesSent &+= bytesSent
        self.bytesReceived &+= bytesReceived
        self.phases.record(phases)
    }

    /// The approximate memory of the statistics and their dimensions, in bytes.
    package var estimatedBytes: Int { 512 + duration.bucketCount * MemoryLayout<UInt64>.stride }

    /// The statistics as one for each scale of the durations: what is stored, because a stored sketch has one scale. They
    /// merge to these statistics.
    package var parts: [RequestStatistics] {
        guard duration.isMixed else { return [self] }
        var parts = duration.parts.map { RequestStatistics(duration: $0) }
        (parts[0].bytesSent, parts[0].bytesReceived, parts[0].phases) = (bytesSent, bytesReceived, phases)
        return parts
    }

    package mutating func merge(_ other: RequestStatistics) {
        duration.merge(other.duration)
        bytesSent &+= other.bytesSent
        bytesReceived &+= other.bytesReceived
        phases.merge(other.phases)
    }
}

/// The distributions of the body sizes of one series in one interval, in bytes. For other programs: Martlet's collector
/// keeps only the sums, which are in ``RequestStatistics``. A plain value.
package struct BodySizes: Sendable, Equatable {
    /// Eight buckets for each power of two: a quantile of sizes is within 4.4 %.
    private static let scale: Int32 = 3

    package private(set) var sent = ExponentialHistogram(scale: Self.scale)
    package private(set) var received = ExponentialHistogram(scale: Self.scale)

    package init() {}

    /// Adds the bodies of one request.
    package mutating func record(sent: UInt64, received: UInt64) {
        self.sent.record(Double(sent))
        self.received.record(Double(received))
    }

    /// The approximate memory, in bytes.
    package var estimatedBytes: Int {
        256 + (sent.buckets.count + received.buckets.count) * MemoryLayout<UInt64>.stride
    }
}
