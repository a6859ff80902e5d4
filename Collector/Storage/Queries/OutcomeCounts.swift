import MartletTelemetry

/// The number of requests for each outcome. A plain value of fixed size.
package struct OutcomeCounts: Sendable, Equatable {
    private var counts = SIMD8<UInt64>()

    package init() {}

    package subscript(outcome: RequestOutcome) -> UInt64 {
        get { counts[outcome.lane] }
        set { counts[outcome.lane] = newValue }
    }

    package mutating func merge(_ other: OutcomeCounts) {
        counts &+= other.counts
    }
}

extension RequestOutcome {
    /// The index of the outcome in a vector.
    fileprivate var lane: Int {
        switch self {
        case .success: 0
        case .transportFailure: 1
        case .clientError: 2
        case .serverError: 3
        case .hung: 4
        case .cancelled: 5
        }
    }
}
