import Synchronization

/// The work that the agent may do: each step gives up a little more. The hot path reads it as an atomic.
enum Allowance: UInt8, AtomicRepresentable, CaseIterable {
    case everything
    case withoutDetails
    /// Requests are counted and timed, and nothing else is done.
    case countsOnly
    /// Capture is paused.
    case nothing

    var keepsDetails: Bool { self == .everything }

    /// Whether phases are read, trace headers sent, and spans recorded that are not requests.
    var traces: Bool { rawValue <= Allowance.withoutDetails.rawValue }

    /// One step less; `nil` if nothing is left to give up.
    var less: Allowance? { Allowance(rawValue: rawValue + 1) }

    /// One step more; `nil` if nothing was given up.
    var more: Allowance? { rawValue == 0 ? nil : Allowance(rawValue: rawValue - 1) }
}
