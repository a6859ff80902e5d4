import MartletStorage
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
    /// The counts of each sender. Of a body with more than ``maxSenders`` some are missing.
    package private(set) var senders: [TelemetryResource: [String: Int]] = [:]
    /// The counts that are in ``senders``.
    private var assigned: [String: Int] = [:]
    /// The number of buckets of all sketches so far, for ``IntakeLimits/maxSketchBuckets``, and the number for which memory has
    /// been reserved.
    private var buckets = 0
    private var reservedBuckets = 0

    /// The maximum number of senders that are distinguished.
    package static let maxSenders = 1000

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

    /// Assigns the refusals since the last call to a sender. Texts that are too long for a store are cut.
    mutating func assign(to resource: TelemetryResource, _ limits: IntakeLimits) {
        guard counts != assigned else { return }
        var sender = resource.identity
        for text in SenderText.identity {
            text.set((text.value(of: sender) ?? "").cut(toBytes: limits.maxAttributeBytes), of: &sender)
        }
        sender.agent = resource.agent?.cut(toBytes: limits.maxAttributeBytes)
        if senders[sender] != nil || senders.count < Self.maxSenders {
            let new = counts.map { ($0.key, $0.value - (assigned[$0.key] ?? 0)) }.filter { $0.1 > 0 }
            senders[sender, default: [:]].merge(new) { $0 + $1 }
        }
        assigned = counts
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
