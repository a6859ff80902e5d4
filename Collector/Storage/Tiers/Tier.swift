import MartletTelemetry

/// A time resolution of stored points. Stores keep the raw value.
package enum Tier: Int, Sendable, CaseIterable {
    /// Intervals shorter than a minute. An agent's intervals last 10 s.
    case fine = 0
    case minute = 1
    case hour = 2
    /// A day in UTC, of versions of services. Its hours are kept as long as it is, so it changes no answer: a window of weeks is
    /// read faster.
    case day = 3

    /// The tiers that figures of processes are kept in.
    package static let ofProcesses: [Tier] = [.fine, .minute, .hour]

    /// Picks the tier for delivered points with intervals of this length. Merged batches and senders with long intervals have no
    /// finer figures.
    package init(fitting nanoseconds: UInt64) {
        switch nanoseconds {
        case ..<UInt64(Self.minute.length): self = .fine
        case ..<UInt64(Self.hour.length): self = .minute
        default: self = .hour
        }
    }

    /// The tier that this one rolls up to; `nil` for the coarsest.
    package var next: Tier? { Tier(rawValue: rawValue + 1) }

    /// The length of a slot, in nanoseconds.
    package var length: Int64 {
        switch self {
        case .fine: 10_000_000_000
        case .minute: 60_000_000_000
        case .hour: 3_600_000_000_000
        case .day: 86_400_000_000_000
        }
    }

    /// The wait between the end of a slot of the tier above and the roll-up of this tier's points in it, in nanoseconds. An
    /// agent's batch takes some seconds to arrive, and each later point costs another row.
    package var rollUpDelay: Int64 { self == .fine ? 60_000_000_000 : 300_000_000_000 }

    /// Returns the latest end of a slot that is not after `time`. The slots of a tier are contiguous, each `(end - length, end]`.
    package func slotEnd(notAfter time: Int64) -> Int64 { time.roundedDown(to: length) }

    /// Returns the end of the slot that `time` lies in.
    package func slotEnd(of time: Int64) -> Int64 { time.roundedUp(to: length) }
}

extension Int64 {
    fileprivate func roundedDown(to length: Int64) -> Int64 { self - self % length }

    fileprivate func roundedUp(to length: Int64) -> Int64 {
        let before = roundedDown(to: length)
        guard before < self else { return before }
        let (end, isPastAllTime) = before.addingReportingOverflow(length)
        return isPastAllTime ? .max : end
    }
}
