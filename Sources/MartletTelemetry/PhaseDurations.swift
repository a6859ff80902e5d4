/// The durations of the phases of one request. A plain value of fixed size that allocates nothing, because each request
/// makes one.
package struct PhaseDurations: Sendable, Equatable {
    private static let none = UInt64.max
    /// The durations in nanoseconds, by ``RequestPhase/lane``; ``none`` for a phase that the request did not have.
    package private(set) var lanes = SIMD8<UInt64>(repeating: PhaseDurations.none)

    /// Durations without any phase.
    package init() {}

    /// - Parameter lanes: the lanes of other durations; the last two are not used.
    package init(lanes: SIMD8<UInt64>) {
        self.lanes = lanes
    }

    /// The duration in nanoseconds; `nil` if the request did not have the phase.
    package subscript(phase: RequestPhase) -> UInt64? {
        get { lanes[phase.lane] == Self.none ? nil : lanes[phase.lane] }
        set { lanes[phase.lane] = newValue ?? Self.none }
    }

    /// The lanes of the phases that the request had.
    var recorded: SIMDMask<SIMD8<Int64>> { lanes .!= Self.none }
}
