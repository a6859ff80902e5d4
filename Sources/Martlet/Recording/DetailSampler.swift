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

    /// Reserves details within the interval's limits. Returns `false` for a request whose details are not kept, and counts
    /// them as dropped if they were wanted.
    mutating func reserve(isSampled: Bool, isFailure: Bool, nanoseconds: UInt64) -> Bool {
        let isFailure = keepFailures && isFailure
        let isSlow = nanoseconds >= slowNanoseconds
        guard isSampled || isFailure || isSlow else { return false }
        if isSampled, Self.reserve(&sampled, MartletLimits.sampledDetails) { return true }
        if isFailure, Self.reserve(&failures, MartletLimits.failureDetails) { return true }
        if isSlow, Self.reserve(&slow, MartletLimits.slowDetails) { return true }
        dropped &+= 1
        return false
    }

    mutating func countDropped(_ number: Int) { dropped &+= UInt64(number) }

    mutating func startInterval() {
        sampled = 0
        failures = 0
        slow = 0
    }

    private static func reserve(_ reserved: inout Int, _ limit: Int) -> Bool {
        guard reserved < limit else { return false }
        reserved += 1
        return true
    }
}
