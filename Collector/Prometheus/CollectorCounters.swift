/// The collector's counts since it started. A plain value.
package struct CollectorCounters: Sendable, Equatable {
    /// Reasons that are told apart at most. They are the collector's own sentences, so they are few.
    package static let maxReasons = 100
    package static let otherReason = "other"

    /// A request to `/v1/…` and its answer.
    package struct Answer: Sendable, Hashable {
        /// `metrics`, `traces`, `logs`, `other`.
        package var signal: String
        package var status: Int

        package init(signal: String, status: Int) {
            self.signal = signal
            self.status = status
        }
    }

    package var answers: [Answer: UInt64] = [:]
    package var inFlight = 0
    package var points: UInt64 = 0
    package var spans: UInt64 = 0
    /// Points of metrics that are not about HTTP requests.
    package var ignoredPoints: UInt64 = 0
    package private(set) var rejectedPoints: [String: UInt64] = [:]
    package private(set) var rejectedSpans: [String: UInt64] = [:]
    package var duplicateBatches: UInt64 = 0
    package var overlappingBatches: UInt64 = 0
    package var commits = ExplicitHistogram(bounds: ExplicitHistogram.commitBounds)
    package var failedCommits: UInt64 = 0
    /// Requests that were refused as a whole, by reason.
    package private(set) var rejectedRequests: [String: UInt64] = [:]
    /// The end of the latest whole pass of maintenance, or the collector's start if none has ended, in seconds since 1970.
    package var maintained = 0.0
    package var failedMaintenance: UInt64 = 0

    package init() {}

    package mutating func rejectRequest(_ reason: String) { Self.add([reason: 1], to: &rejectedRequests) }

    package mutating func rejectPoints(_ reasons: [String: Int]) { Self.add(reasons, to: &rejectedPoints) }

    package mutating func rejectSpans(_ reasons: [String: Int]) { Self.add(reasons, to: &rejectedSpans) }

    private static func add(_ reasons: [String: Int], to counts: inout [String: UInt64]) {
        for (reason, count) in reasons {
            let isKept = counts[reason] != nil || counts.count < maxReasons
            counts[isKept ? reason : otherReason, default: 0] &+= UInt64(clamping: count)
        }
    }
}
