import MartletTelemetry

/// A resolution in time at which points are kept. The raw value is a column's.
enum Tier: Int, CaseIterable {
    /// As agents deliver: intervals shorter than a minute.
    case tenSeconds = 0
    case minute = 1
    case hour = 2

    /// The tier of points that were delivered with intervals of this length: merged batches and senders with long intervals
    /// have no finer figures.
    init(fitting nanoseconds: UInt64) {
        switch nanoseconds {
        case ..<UInt64(Self.minute.length): self = .tenSeconds
        case ..<UInt64(Self.hour.length): self = .minute
        default: self = .hour
        }
    }

    /// What this one is rolled up to.
    var next: Tier? { Tier(rawValue: rawValue + 1) }

    /// Nanoseconds.
    var length: Int64 {
        switch self {
        case .tenSeconds: 10_000_000_000
        case .minute: 60_000_000_000
        case .hour: 3_600_000_000_000
        }
    }

    /// The slots of a tier follow each other without a gap, each of them `(end - length, end]`. This is the latest end that is
    /// not after `time`.
    func slotEnd(notAfter time: Int64) -> Int64 {
        time - time % length
    }

    /// The end of the slot that `time` lies in.
    func slotEnd(of time: Int64) -> Int64 {
        let before = slotEnd(notAfter: time)
        guard before < time else { return before }
        let (end, isPastAllTime) = before.addingReportingOverflow(length)
        return isPastAllTime ? .max : end
    }
}
