import MartletStorage
import MartletTelemetry

/// The search for the latest requests before a time.
package enum LatestRequest {
    /// The time that is searched, in nanoseconds.
    private static let reach: UInt64 = 7 * 86_400_000_000_000
    private static let hour: UInt64 = 3_600_000_000_000
    /// A report's times have seconds.
    private static let second: UInt64 = 1_000_000_000

    /// Returns the end of the latest interval with requests; `nil` if there are none in the week before.
    ///
    /// - Parameters:
    ///   - filters: the values that select the requests.
    ///   - report: returns the report on parameters.
    package static func end(
        before time: UnixNanoseconds, _ filters: [EmptyAnswer.Names.Wanted],
        report: (ReportParameters) async throws -> Report
    ) async throws -> UnixNanoseconds? {
        func latest(from: UnixNanoseconds, to: UnixNanoseconds, step: String?) async throws -> UnixNanoseconds? {
            var parameters = ReportParameters()
            parameters.add(filters)
            parameters.add(.since, TimeText.format(from))
            parameters.add(.until, TimeText.format(to))
            parameters.add(.by, Dimension.kind.rawValue)
            parameters.add(.step, step)
            return try await report(parameters).lastSeen.flatMap { TimeText.parse($0, now: 0) }
        }
        guard time >= second else { return nil }
        guard let end = try await latest(from: time - min(time, reach), to: time, step: nil) else { return nil }
        // A window of a week is read by hours, and one in short slots as finely as points are kept.
        return try await latest(from: end - min(end, hour), to: end, step: "1m") ?? end
    }
}
