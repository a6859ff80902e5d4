/// A part of a request's time. The raw value is the `martlet.phase` attribute on the wire and the key in reports.
///
/// Phases follow each other in the order of their cases. A request has only the phases that happened: a reused connection
/// has no ``dns``, no ``connect`` and no ``tls``.
package enum RequestPhase: String, Sendable, Hashable, CaseIterable {
    /// From `resume` to the start of the transfer.
    case queue
    /// The look-up of the server's name.
    case dns
    /// The TCP connection.
    case connect
    /// The TLS handshake.
    case tls
    /// From the start of writing the request, including its body, to the first byte of the answer.
    case firstByte = "first_byte"
    /// From the first byte of the answer to its end.
    case transfer

    /// The index of the phase in a vector.
    var lane: Int {
        switch self {
        case .queue: 0
        case .dns: 1
        case .connect: 2
        case .tls: 3
        case .firstByte: 4
        case .transfer: 5
        }
    }
}

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
