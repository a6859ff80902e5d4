import MartletTelemetry

/// A distribution over buckets with fixed upper bounds, as Prometheus keeps one. Its counts only grow.
package struct ExplicitHistogram: Sendable, Equatable {
    /// Bounds in seconds, as the semantic conventions advise for the duration of HTTP requests ("HTTP Metrics").
    package static let requestBounds = BucketBounds([
        0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10,
    ])
    /// Bounds in seconds, from a commit to memory to a commit to a disk in trouble.
    package static let commitBounds = BucketBounds([
        0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
    ])

    package let bounds: BucketBounds
    /// A count for each bound, and one for the values past the last.
    package private(set) var counts: [UInt64]
    package private(set) var sum = 0.0

    package init(bounds: BucketBounds) {
        self.bounds = bounds
        counts = [UInt64](repeating: 0, count: bounds.values.count + 1)
    }

    package var count: UInt64 { counts.reduce(0, &+) }

    package mutating func record(_ value: Double) {
        counts[bounds.index(of: value)] &+= 1
        sum += value
    }

    /// Adds the values of a sketch. Counts and sum are exact; a value close to a bound may count on the other side of it: see
    /// ``BucketBounds/add(_:to:)``. The caller adds point by point, so that no bucket ever shrinks.
    package mutating func add(_ sketch: ExponentialHistogram) {
        bounds.add(sketch, to: &counts)
        sum += sketch.sum
    }

    /// Adds a histogram with the same bounds.
    package mutating func add(_ other: ExplicitHistogram) {
        for (index, count) in other.counts.enumerated() where count > 0 { counts[index] &+= count }
        sum += other.sum
    }
}
