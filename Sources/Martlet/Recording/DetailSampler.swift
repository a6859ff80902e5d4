import MartletTelemetry

/// Decides whose details are kept. A pure value; it never touches what is counted.
struct DetailSampler: Sendable {
    private let threshold: UInt64
    private let keepFailures: Bool
    private let slowNanoseconds: UInt64
    private var sampled = 0
    private var failures = 0
    private var slow = 0
    /// Details that would have been kept but for a limit.
    private(set) var dropped: UInt64 = 0

    private static let traceIDRange = UInt64(1) << 56

    init(rate: Double, keepFailures: Bool, slow: Duration) {
        // What is no number compares with nothing, and counts as 0.
        let share = rate > 0 ? min(rate, 1) : 0
        threshold = UInt64((1 - share) * Double(Self.traceIDRange))
        self.keepFailures = keepFailures
        slowNanoseconds = slow.nanoseconds
    }

    /// - Parameter traceIDLow: the last eight bytes of the trace id. The last seven of them are the randomness that all
    ///   services of a trace decide by (W3C Trace Context Level 2, "Random Trace ID Flag").
    mutating func keeps(traceIDLow: UInt64, outcome: RequestOutcome, kind: RequestKind, nanoseconds: UInt64) -> Bool {
        let isSampled = traceIDLow % Self.traceIDRange >= threshold
        let isFailure = keepFailures && outcome.isFailure(for: kind)
        let isSlow = nanoseconds >= slowNanoseconds
        guard isSampled || isFailure || isSlow else { return false }
        if isSampled, Self.take(&sampled, MartletLimits.sampledDetails) { return true }
        if isFailure, Self.take(&failures, MartletLimits.failureDetails) { return true }
        if isSlow, Self.take(&slow, MartletLimits.slowDetails) { return true }
        dropped &+= 1
        return false
    }

    mutating func countDropped(_ number: Int) { dropped &+= UInt64(number) }

    mutating func startInterval() {
        sampled = 0
        failures = 0
        slow = 0
    }

    private static func take(_ taken: inout Int, _ limit: Int) -> Bool {
        guard taken < limit else { return false }
        taken += 1
        return true
    }
}
