import MartletTelemetry

/// The values that were taken from a request's body, and the refusals.
package struct IntakeResult<Value: Sendable>: Sendable {
    package var values: [Value]
    package var refusals: Refusals

    /// The number of data points that are not needed, and not a mistake: they are not about HTTP requests, or repeat a
    /// metric under its earlier name.
    package var ignored: Int { refusals.ignored }
}

extension IntakeResult: Equatable where Value: Equatable {}

/// Points or spans that are not taken, by reason (OTLP specification, "Partial Success").
package struct Refusals: Sendable, Equatable {
    /// The number of points or spans by reason.
    package private(set) var counts: [String: Int] = [:]
    /// The number of requests that the points stood for. Only durations count, of which every request has one.
    package private(set) var requests: UInt64 = 0
    /// See ``IntakeResult/ignored``. They are not among the refused.
    private(set) var ignored = 0
    /// Buckets of all sketches so far, for ``IntakeLimits/maxSketchBuckets``, and below the number of them that is
    /// reserved.
    private var buckets = 0
    private var reservedBuckets = 0

    package var total: Int { counts.values.reduce(0, +) }

    /// One line for the sender's log, equal for equal refusals; empty if there are none.
    package var message: String {
        counts.sorted { $0.key < $1.key }.map { "\($0.value) rejected: \($0.key)" }.joined(separator: "; ")
    }

    /// Adds refused points or spans. A reason is a sentence of the collector's own and never quotes the sender, so there
    /// are few.
    mutating func add(_ reason: String, count: Int = 1, requests: UInt64 = 0) {
        guard count > 0 else { return }
        counts[reason, default: 0] += count
        let (sum, isTooLarge) = self.requests.addingReportingOverflow(requests)
        self.requests = isTooLarge ? .max : sum
    }

    /// Returns whether the sketch fits beside the sketches taken so far.
    func hasRoom(for sketch: ExponentialHistogram, _ limits: IntakeLimits) -> Bool {
        sketch.buckets.count <= limits.maxSketchBuckets - buckets
    }

    mutating func addSketches(ofBuckets count: Int) {
        buckets += count
    }

    /// Reserves the memory of all sketches so far, if enough buckets came in since the last call.
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
