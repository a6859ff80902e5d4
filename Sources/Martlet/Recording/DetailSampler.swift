import MartletTelemetry

/// The sampler that decides which requests' details are kept, within limits for each interval. A pure value; it never
/// affects counts.
struct DetailSampler: Sendable {
    private let keepFailures: Bool
    private let slowNanoseconds: UInt64
    private var sampled = 0
    private var failures = 0
    private var slow = 0
    /// The number of details that were wanted and are not kept.
    private(set) var dropped: UInt64 = 0

    init(keepFailures: Bool, slow: Duration) {
        self.keepFailures = keepFailures
        slowNanoseconds = slow.nanoseconds
    }

    /// Returns whether details are wanted, limits aside. Costs nothing.
    func wants(isSampled: Bool, isFailure: Bool, nanoseconds: UInt64) -> Bool {
        isSampled || (keepFailures && isFailure) || nanoseconds >= slowNanoseconds
    }

    mutating func keeps(isSampled: Bool, isFailure: Bool, nanoseconds: UInt64) -> Bool {
        let isFailure = keepFailures && isFailure
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
