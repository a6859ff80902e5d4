import MartletTelemetry

/// A resolution in time at which points are kept. Stores keep the raw value.
package enum Tier: Int, Sendable, CaseIterable {
    /// Intervals shorter than a minute; an agent's have 10 s.
    case fine = 0
    case minute = 1
    case hour = 2

    /// Picks the tier of delivered points with intervals of this length: merged batches and senders with long intervals have
    /// no finer figures.
    package init(fitting nanoseconds: UInt64) {
        switch nanoseconds {
        case ..<UInt64(Self.minute.length): self = .fine
        case ..<UInt64(Self.hour.length): self = .minute
        default: self = .hour
        }
    }

    /// The tier that this one is rolled up to; `nil` for the coarsest.
    package var next: Tier? { Tier(rawValue: rawValue + 1) }

    /// The length of a slot, in nanoseconds.
    package var length: Int64 {
        switch self {
        case .fine: 10_000_000_000
        case .minute: 60_000_000_000
        case .hour: 3_600_000_000_000
        }
    }

    /// The time from the end of a slot of the tier above until this tier's points in it are rolled up, in nanoseconds: an
    /// agent's batch is on its way for some seconds. A point that comes later costs another row.
    package var rollUpDelay: Int64 { self == .fine ? 60_000_000_000 : 300_000_000_000 }

    /// Returns the latest end of a slot that is not after `time`. The slots of a tier follow each other without a gap, each
    /// of them `(end - length, end]`.
    package func slotEnd(notAfter time: Int64) -> Int64 {
        time - time % length
    }

    /// Returns the end of the slot that `time` lies in.
    package func slotEnd(of time: Int64) -> Int64 {
        let before = slotEnd(notAfter: time)
        guard before < time else { return before }
        let (end, isPastAllTime) = before.addingReportingOverflow(length)
        return isPastAllTime ? .max : end
    }
}

/// The slots of summaries. A summary has the points of all processes of one version of a service in a slot, added up by endpoint
/// and outcome. A store may keep some, so questions in whole slots cost less than others.
package enum SummarySlot {
    /// The length of a slot, in nanoseconds. It divides the hour and is itself whole minutes.
    package static let length: Int64 = 180_000_000_000

    /// The age up to which summaries are kept: a day can be compared with the day before.
    static let maxAge: Int64 = 50 * 3_600_000_000_000

    /// Returns the latest end of a slot that is not after `time`.
    package static func end(notAfter time: Int64) -> Int64 { time - time % length }

    /// Returns the earliest end of a slot that is not before `time`.
    package static func end(notBefore time: Int64) -> Int64 {
        let before = end(notAfter: time)
        guard before < time else { return before }
        let (end, isPastAllTime) = before.addingReportingOverflow(length)
        return isPastAllTime ? .max : end
    }
}
