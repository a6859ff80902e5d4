import MartletTelemetry

/// A resolution in time at which points are kept. The raw value is stored in columns.
enum Tier: Int, CaseIterable {
    /// Intervals shorter than a minute; an agent's have 10 s.
    case fine = 0
    case minute = 1
    case hour = 2

    /// Picks the tier of delivered points with intervals of this length: merged batches and senders with long intervals have
    /// no finer figures.
    init(fitting nanoseconds: UInt64) {
        switch nanoseconds {
        case ..<UInt64(Self.minute.length): self = .fine
        case ..<UInt64(Self.hour.length): self = .minute
        default: self = .hour
        }
    }

    /// The tier that this one is rolled up to; `nil` for the coarsest.
    var next: Tier? { Tier(rawValue: rawValue + 1) }

    /// The length of a slot, in nanoseconds.
    var length: Int64 {
        switch self {
        case .fine: 10_000_000_000
        case .minute: 60_000_000_000
        case .hour: 3_600_000_000_000
        }
    }

    /// Returns the latest end of a slot that is not after `time`. The slots of a tier follow each other without a gap, each
    /// of them `(end - length, end]`.
    func slotEnd(notAfter time: Int64) -> Int64 {
        time - time % length
    }

    /// Returns the end of the slot that `time` lies in.
    func slotEnd(of time: Int64) -> Int64 {
        let before = slotEnd(notAfter: time)
        guard before < time else { return before }
        let (end, isPastAllTime) = before.addingReportingOverflow(length)
        return isPastAllTime ? .max : end
    }
}
