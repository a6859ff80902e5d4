/// How long the phases of one request took. A plain value of fixed size, without any allocation: it is made for every
/// request.
package struct PhaseDurations: Sendable, Equatable {
    private static let none = UInt64.max
    /// ``none`` where the request did not have the phase.
    package private(set) var lanes = SIMD8<UInt64>(repeating: PhaseDurations.none)

    /// Without any phase.
    package init() {}

    /// - Parameter lanes: of another one; the last two are not used.
    package init(lanes: SIMD8<UInt64>) {
        self.lanes = lanes
    }

    /// Nanoseconds; `nil` when the request did not have the phase.
    package subscript(phase: RequestPhase) -> UInt64? {
        get { lanes[phase.lane] == Self.none ? nil : lanes[phase.lane] }
        set { lanes[phase.lane] = newValue ?? Self.none }
    }

    /// The lanes of the phases that the request had.
    var recorded: SIMDMask<SIMD8<Int64>> { lanes .!= Self.none }
}
