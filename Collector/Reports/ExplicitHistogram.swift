import MartletTelemetry

/// A distribution over buckets with fixed upper bounds, as Prometheus keeps one. Its counts only grow.
package struct ExplicitHistogram: Sendable, Equatable {
    /// Seconds; what the semantic conventions advise for the duration of HTTP requests ("HTTP Metrics").
    package static let requestBounds = BucketBounds([
        0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10,
    ])
    /// Seconds; from a commit to memory to one on a disk that is in trouble.
    package static let commitBounds = BucketBounds([
        0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
    ])

    package let bounds: BucketBounds
    /// One more than there are bounds.
    package private(set) var counts: [UInt64]
    package private(set) var sum = 0.0

    package init(bounds: BucketBounds) {
        self.bounds = bounds
        counts = [UInt64](repeating: 0, count: bounds.values.count + 1)
    }

    package var count: UInt64 { counts.reduce(0, &+) }

    package mutating func record(_ value: Double) {
        counts[bounds.place(of: value)] &+= 1
        sum += value
    }

    /// Counts and sum are exact, and so is which bucket a value is in, but for those at a bound: see
    /// ``BucketBounds/add(_:to:)``. Taken over point by point, so that no bucket ever shrinks.
    package mutating func add(_ sketch: ExponentialHistogram) {
        bounds.add(sketch, to: &counts)
        sum += sketch.sum
    }

    /// Of one with the same bounds.
    package mutating func add(_ other: ExplicitHistogram) {
        for (index, count) in other.counts.enumerated() where count > 0 { counts[index] &+= count }
        sum += other.sum
    }
}
