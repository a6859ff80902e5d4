import MartletTelemetry

/// The slots of summaries. A summary has the points of all processes of one version of a service in a slot, added up by endpoint
/// and outcome. A store may keep some, so questions in whole slots cost less than others.
package enum SummarySlot {
    /// The length of a slot, in nanoseconds. It divides the hour and is itself whole minutes.
    package static let length: Int64 = 180_000_000_000

    /// The age up to which summaries are kept: a day can be compared with the day before.
    package static let maxAge: Int64 = 50 * 3_600_000_000_000

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
