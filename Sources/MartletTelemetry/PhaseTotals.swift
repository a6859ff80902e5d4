/// What is known of the phases of many requests: of each phase how many requests had it, and how long it took in all.
/// Merges exactly, as far as sums of `Double` are. A plain value of fixed size.
package struct PhaseTotals: Sendable, Equatable {
    private var counts = SIMD8<UInt64>()
    private var seconds = SIMD8<Double>()

    /// Without any phase.
    package init() {}

    /// One phase over all requests that had it.
    package struct Total: Sendable, Equatable {
        /// Requests that had the phase.
        package var count: UInt64
        /// Their time in it, added up.
        package var seconds: Double

        package init(count: UInt64 = 0, seconds: Double = 0) {
            self.count = count
            self.seconds = seconds
        }

        /// Seconds; `nil` when no request had the phase.
        package var mean: Double? { count > 0 ? seconds / Double(count) : nil }
    }

    /// Zeros when no request had the phase.
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

    /// Adds what is known of one phase of other requests.
    package mutating func add(_ total: Total, to phase: RequestPhase) {
        counts[phase.lane] &+= total.count
        seconds[phase.lane] += total.seconds
    }

    /// Adds the requests of another.
    package mutating func merge(_ other: PhaseTotals) {
        counts &+= other.counts
        seconds += other.seconds
    }
}
