import MartletTelemetry

/// The values decoded from a request's body, and the refusals.
package struct IntakeResult<Value: Sendable>: Sendable {
    package var values: [Value]
    package var refusals: Refusals

    /// The number of data points that are valid but not needed. They are not about requests, or they repeat a metric under
    /// its earlier name.
    package var ignored: Int { refusals.ignored }
}

extension IntakeResult: Equatable where Value: Equatable {}

/// Refused points or spans, by reason (OTLP specification, "Partial Success").
package struct Refusals: Sendable, Equatable {
    /// The number of points or spans by reason.
    package private(set) var counts: [String: Int] = [:]
    /// The number of requests in the refused points. Only points of durations count, because every request has exactly one
    /// duration.
    package private(set) var requests: UInt64 = 0
    /// See ``IntakeResult/ignored``. Refused points are not included.
    private(set) var ignored = 0
    /// The number of buckets of all sketches so far, for ``IntakeLimits/maxSketchBuckets``, and the number for which memory has
    /// been reserved.
    private var buckets = 0
    private var reservedBuckets = 0

    package var total: Int { counts.values.reduce(0, +) }

    /// One line for the sender's log, the same for the same refusals. Empty if there are none.
    package var message: String {
        counts.sorted { $0.key < $1.key }.map { "\($0.value) rejected: \($0.key)" }.joined(separator: "; ")
    }

    /// Adds refused points or spans. The reason is the collector's own sentence and never quotes the sender, so there are few
    /// reasons.
    mutating func add(_ reason: String, count: Int = 1, requests: UInt64 = 0) {
        guard count > 0 else { return }
        counts[reason, default: 0] += count
        self.requests = self.requests.adding(requests)
    }

    /// Returns whether the limit has room for another sketch.
    func hasRoom(for sketch: ExponentialHistogram, _ limits: IntakeLimits) -> Bool {
        sketch.buckets.count <= limits.maxSketchBuckets - buckets
    }

    mutating func addSketches(ofBuckets count: Int) {
        buckets += count
    }

    /// Reserves memory for all sketches so far, if enough buckets have been added since the last reservation.
    mutating func reserveSketches(_ reserve: MemoryReservation) throws(IntakeRejection) {
        guard buckets - reservedBuckets >= 2 * ExponentialHistogram.maxBuckets else { return }
        try reserve(buckets * MemoryLayout<UInt64>.stride)
        reservedBuckets = buckets
    }

    mutating func ignore(_ count: Int) {
        ignored += count
    }
}

/// The refusal of one point, with a sentence as its reason.
struct PointRefusal: Error {
    var reason: String

    static let countMismatch = PointRefusal(reason: "the count is not the sum of the buckets")
}
