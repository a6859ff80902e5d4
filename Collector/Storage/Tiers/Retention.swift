import MartletTelemetry

/// The ages up to which points are kept at each resolution, counted from the end of their interval. Points are first kept as
/// they arrived, then merged into one for each minute of a version of a service, then into one for each hour. Counts, sums and distributions merge
/// without error. Only the possible bounds of a window become coarser.
package struct Retention: Sendable, Equatable {
    /// Nanoseconds.
    package var fine: UnixNanoseconds = 6 * 3_600_000_000_000
    package var minutes: UnixNanoseconds = 7 * 24 * 3_600_000_000_000
    package var hours: UnixNanoseconds = 400 * 24 * 3_600_000_000_000

    /// Keeps fine points for six hours, minutes for a week, and hours for a little over a year, so that a year can be compared with
    /// the one before.
    package init() {}

    /// Whether no resolution expires before a finer one. Coarser figures are made from finer ones.
    package var isOrdered: Bool { fine > 0 && fine <= minutes && minutes <= hours }

    /// The age at which the readings and figures of a process fold into the hours of its version, in nanoseconds: seven days, or
    /// that of minutes if it is longer.
    package var processes: Int64 { min(max(Int64(clamping: Self.ofProcesses), age(.minute)), age(.hour)) }

    private static let ofProcesses: UnixNanoseconds = 7 * 24 * 3_600_000_000_000

    /// Returns the age up to which points of a tier are kept, in nanoseconds.
    package func age(_ tier: Tier) -> Int64 {
        switch tier {
        case .fine: Int64(clamping: fine)
        case .minute: Int64(clamping: minutes)
        case .hour, .day: Int64(clamping: hours)
        }
    }
}

/// The times before which rolled-up chunks are deleted, or may be deleted at any moment. Each is the end of a slot of the tier
/// above.
package struct ExpiredTimes: Sendable, Equatable {
    /// Nanoseconds since 1970.
    package var fine: Int64
    package var minutes: Int64

    package init(fine: Int64, minutes: Int64) {
        self.fine = fine
        self.minutes = minutes
    }

    /// The end of all time.
    package static let never = ExpiredTimes(fine: .max, minutes: .max)

    /// The ends of the latest completed slots. Later points are not rolled up yet, so they are not deleted.
    package init(latestAt now: Int64) {
        fine = Tier.minute.slotEnd(notAfter: now)
        minutes = Tier.hour.slotEnd(notAfter: now)
    }

    /// The times that retention reaches at `now`, in nanoseconds since 1970.
    package init(_ retention: Retention, at now: Int64) {
        fine = Tier.minute.slotEnd(notAfter: max(0, now - retention.age(.fine)))
        minutes = Tier.hour.slotEnd(notAfter: max(0, now - retention.age(.minute)))
    }

    /// Returns `time`, or the start of its slot if finer points have expired.
    func slotStart(notAfter time: Int64) -> Int64 { finest(at: time)?.slotEnd(notAfter: time) ?? time }

    /// Returns `time`, or the end of its slot if finer points have expired.
    func slotEnd(notBefore time: Int64) -> Int64 { finest(at: time)?.slotEnd(of: time) ?? time }

    /// Returns the finest tier that remains at `time`; `nil` if points remain as they arrived.
    package func finest(at time: Int64) -> Tier? {
        if time < minutes { return .hour }
        return time < fine ? .minute : nil
    }
}
