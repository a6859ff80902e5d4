import MartletTelemetry

/// What was understood of a request's body, and what was not.
package struct Taken<Value: Sendable>: Sendable {
    package var values: [Value]
    package var refusals: Refusals

    /// Data points that are about something else than HTTP requests: no mistake, and not kept.
    package var ignored: Int { refusals.ignored }
}

extension Taken: Equatable where Value: Equatable {}

/// Points or spans that are not taken, by reason (OTLP specification, "Partial Success").
package struct Refusals: Sendable, Equatable {
    /// Points or spans by reason.
    package private(set) var counts: [String: Int] = [:]
    /// For how many requests the points stood. Only durations count, which every request has one of.
    package private(set) var requests: UInt64 = 0
    /// See ``Taken/ignored``; not among the refused.
    private(set) var ignored = 0
    /// Buckets of the sketches of what was taken, for ``IntakeLimits/maxSketchBuckets``, and of those that are reserved.
    private var buckets = 0
    private var reservedBuckets = 0

    package var total: Int { counts.values.reduce(0, +) }

    /// One line for the sender's log, the same for the same refusals; empty when there are none.
    package var message: String {
        counts.sorted { $0.key < $1.key }.map { "\($0.value) not taken: \($0.key)" }.joined(separator: "; ")
    }

    /// Reasons are sentences of the collector's own and never quote the sender, so there are few.
    mutating func add(_ reason: String, count: Int = 1, requests: UInt64 = 0) {
        guard count > 0 else { return }
        counts[reason, default: 0] += count
        let (sum, isTooLarge) = self.requests.addingReportingOverflow(requests)
        self.requests = isTooLarge ? .max : sum
    }

    /// False for a sketch that is too much beside those that were taken.
    func hasRoom(for sketch: ExponentialHistogram, _ limits: IntakeLimits) -> Bool {
        sketch.buckets.count <= limits.maxSketchBuckets - buckets
    }

    mutating func addSketches(ofBuckets count: Int) {
        buckets += count
    }

    /// Reserves the memory of all sketches so far, as far as it is worth telling.
    mutating func reserveSketches(_ reserve: Intake.Reservation) throws(IntakeRejection) {
        guard buckets - reservedBuckets >= 2 * ExponentialHistogram.maxBuckets else { return }
        try reserve(buckets * MemoryLayout<UInt64>.stride)
        reservedBuckets = buckets
    }

    mutating func ignore(_ count: Int) {
        ignored += count
    }
}
