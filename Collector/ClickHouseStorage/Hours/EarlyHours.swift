import MartletStorage

/// The hours that were made of the points of metrics soon after they ended. A report reads them instead of the points, which are
/// hundreds of times as many.
///
/// Each insert of points raises the revision of their hours first (``ChangedHours``). A made hour holds as long as its points have
/// the revision that they were read with. So points that come late count at once, and the hour is made anew.
enum EarlyHours {
    /// The revisions of an hour: that of its points, and that with which it was made; 0 without.
    struct Revisions {
        let hour: UInt32
        let ofPoints: UInt64
        let made: UInt64

        var holds: Bool { made == ofPoints }
    }

    /// Returns the hours that hold and lie wholly in a window.
    static func holding(in window: TimeWindow, _ client: ClickHouseClient) async throws -> [UInt32] {
        let length = StoredHour.length
        let first = (max(0, Int64(clamping: window.from) - 1) + length) / length
        let end = Int64(clamping: window.to) / length
        guard first < end else { return [] }
        return try await revisions(of: first..<end, client).filter(\.holds).map(\.hour)
    }

    /// Returns the revisions of the hours that have points.
    static func revisions(of hours: Range<Int64>, _ client: ClickHouseClient) async throws -> [Revisions] {
        let condition = "hour >= \(hours.lowerBound) AND hour < \(hours.upperBound)"
        return try await client.rows(
            """
            SELECT hour, sum(r) AS points_revision, sum(s) FROM (\
            SELECT hour, sum(revision) AS r, toUInt64(0) AS s FROM changed_hour FINAL WHERE \(condition) GROUP BY hour \
            UNION ALL \
            SELECT hour, toUInt64(0) AS r, max(revision) AS s FROM made_hour WHERE \(condition) GROUP BY hour) \
            GROUP BY hour HAVING points_revision > 0 ORDER BY hour
            """
        ) { Revisions(hour: try $0.number(), ofPoints: try $0.number(), made: try $0.number()) }
    }
}
