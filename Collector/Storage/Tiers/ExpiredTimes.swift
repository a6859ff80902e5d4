/// The times up to which rolled-up chunks have been deleted, or may be at any moment. They are ends of slots of the tier above.
package struct ExpiredTimes: Sendable, Equatable {
    /// Nanoseconds since 1970.
    package var fine: Int64
    package var minutes: Int64
    /// The time for summaries, of which other points have everything. The end of a slot of summaries.
    package var summaries: Int64

    package init(fine: Int64, minutes: Int64, summaries: Int64 = 0) {
        self.fine = fine
        self.minutes = minutes
        self.summaries = summaries
    }

    /// The end of all time.
    package static let never = ExpiredTimes(fine: .max, minutes: .max, summaries: .max)

    /// The ends of the latest slots that are over. Points of later ones have not been rolled up, so they are not deleted.
    package init(latestAt now: Int64) {
        fine = Tier.minute.slotEnd(notAfter: now)
        minutes = Tier.hour.slotEnd(notAfter: now)
        summaries = SummarySlot.end(notAfter: now)
    }

    /// The times that retention reaches at `now`, in nanoseconds since 1970.
    package init(_ retention: Retention, at now: Int64) {
        fine = Tier.minute.slotEnd(notAfter: max(0, now - retention.age(.fine)))
        minutes = Tier.hour.slotEnd(notAfter: max(0, now - retention.age(.minute)))
        summaries = SummarySlot.end(notAfter: max(0, now - min(SummarySlot.maxAge, retention.age(.minute))))
    }

    /// Returns `time`, or the start of its slot if nothing finer is left.
    func slotStart(notAfter time: Int64) -> Int64 { finest(at: time)?.slotEnd(notAfter: time) ?? time }

    /// Returns `time`, or the end of its slot if nothing finer is left.
    func slotEnd(notBefore time: Int64) -> Int64 { finest(at: time)?.slotEnd(of: time) ?? time }

    /// Returns the finest tier that is left at `time`; `nil` if points are left as they came.
    package func finest(at time: Int64) -> Tier? {
        if time < minutes { return .hour }
        return time < fine ? .minute : nil
    }
}
