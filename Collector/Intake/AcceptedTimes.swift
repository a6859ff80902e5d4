import MartletTelemetry

/// The times at which a point or a span may end. A later or earlier one would never be shown, or hold room until its time has
/// come.
package struct AcceptedTimes: Sendable, Equatable {
    /// How far a sender's clock may be ahead of the collector's, in nanoseconds. A clock in a wrong zone is off by at least as
    /// much.
    package static let maxAhead: UnixNanoseconds = 3_600_000_000_000

    package var earliest: UnixNanoseconds
    package var latest: UnixNanoseconds

    /// All times that a store can keep: 63 bits, which last until 2262.
    package static let all = AcceptedTimes(earliest: 0, latest: UInt64(Int64.max))

    package init(earliest: UnixNanoseconds, latest: UnixNanoseconds) {
        (self.earliest, self.latest) = (earliest, latest)
    }

    /// The times that are accepted at `now`.
    ///
    /// - Parameter age: the age up to which the store keeps anything, in nanoseconds.
    package init(at now: UnixNanoseconds, upToAge age: UnixNanoseconds) {
        self.init(earliest: now - min(age, now), latest: min(now + Self.maxAhead, UInt64(Int64.max)))
    }

    /// Throws if the end is not accepted. If the start or the end is evidently in another unit, the reason names the unit.
    func check(_ start: UnixNanoseconds, _ end: UnixNanoseconds) throws(PointRefusal) {
        guard start < earliest || !contains(end) else { return }
        for time in [end, start] {
            if let unit = unit(of: time) {
                throw PointRefusal(reason: "the time is in \(unit); send it in nanoseconds")
            }
        }
        if end > latest {
            throw PointRefusal(reason: "the time is more than an hour ahead of the collector; set the sender's clock")
        }
        if end < earliest { throw PointRefusal(reason: "the time is before everything that --retention keeps") }
    }

    private func contains(_ time: UnixNanoseconds) -> Bool { time >= earliest && time <= latest }

    /// Returns the unit in which the time would be accepted; `nil` if there is none, or if it is accepted in nanoseconds.
    private func unit(of time: UnixNanoseconds) -> String? {
        let units: [(name: String, nanoseconds: UInt64)] = [
            ("microseconds", 1_000), ("milliseconds", 1_000_000), ("seconds", 1_000_000_000),
        ]
        guard time > 0, earliest > 0, !contains(time) else { return nil }
        return units.first { unit in
            let (time, overflow) = time.multipliedReportingOverflow(by: unit.nanoseconds)
            return !overflow && contains(time)
        }?.name
    }
}
