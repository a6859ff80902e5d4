/// The phases of many requests: for each phase, the number of requests that had it and their total time in it. Merging is
/// as exact as sums of `Double` are. A plain value of fixed size.
package struct PhaseTotals: Sendable, Equatable {
    private var counts = SIMD8<UInt64>()
    private var seconds = SIMD8<Double>()

    /// Totals without any phase.
    package init() {}

    /// One phase over all requests that had it.
    package struct Total: Sendable, Equatable {
        /// Requests that had the phase.
        package var count: UInt64
        /// The sum of their times in the phase.
        package var seconds: Double

        package init(count: UInt64 = 0, seconds: Double = 0) {
            self.count = count
            self.seconds = seconds
        }

        /// The mean time in seconds; `nil` if no request had the phase.
        package var mean: Double? { count > 0 ? seconds / Double(count) : nil }
    }

    /// The total of a phase; zeros if no request had it.
    package subscript(phase: RequestPhase) -> Total {
        get { Total(count: counts[phase.lane], seconds: seconds[phase.lane]) }
        set {
            counts[phase.lane] = newValue.count
            seconds[phase.lane] = newValue.seconds
        }
    }

    /// Whether no request had any phase.
    package var isEmpty: Bool { counts == .zero }

    /// Adds one request.
    package mutating func record(_ durations: PhaseDurations) {
        let recorded = durations.recorded
        counts.replace(with: counts &+ 1, where: recorded)
        seconds.replace(with: seconds + SIMD8<Double>(durations.lanes) / 1e9, where: recorded)
    }

    /// Adds the total of one phase of other requests.
    package mutating func add(_ total: Total, to phase: RequestPhase) {
        counts[phase.lane] &+= total.count
        seconds[phase.lane] += total.seconds
    }

    /// Adds the requests of other totals.
    package mutating func merge(_ other: PhaseTotals) {
        counts &+= other.counts
        seconds += other.seconds
    }
}
