/// The revisions of an hour: that of its points, and that with which it was made; 0 without.
///
/// Each insert of points raises the revision of their hours first (``ChangedHours``). A made hour holds as long as its points have
/// the revision that they were read with.
struct HourRevisions {
    let hour: UInt32
    let ofPoints: UInt64
    let made: UInt64

    var holds: Bool { made == ofPoints }

    /// Returns the revisions of the hours that have points of the kind.
    static func read(
        of hours: Range<Int64>, _ kind: HourKind, _ client: ClickHouseClient
    ) async throws -> [HourRevisions] {
        let condition = "hour >= \(hours.lowerBound) AND hour < \(hours.upperBound)"
        return try await client.rows(
            """
            SELECT hour, sum(r) AS points_revision, sum(s) FROM (\
            SELECT hour, sum(revision) AS r, toUInt64(0) AS s FROM changed_hour FINAL \
            WHERE \(condition) AND \(kind.changes) GROUP BY hour UNION ALL \
            SELECT hour, toUInt64(0) AS r, max(revision) AS s FROM \(kind.table.name) WHERE \(condition) GROUP BY hour) \
            GROUP BY hour HAVING points_revision > 0 ORDER BY hour
            """
        ) { HourRevisions(hour: try $0.number(), ofPoints: try $0.number(), made: try $0.number()) }
    }

    /// Returns the revisions of an hour; `nil` if it has no points of the kind.
    static func read(_ hour: Int64, _ kind: HourKind, _ client: ClickHouseClient) async throws -> HourRevisions? {
        try await read(of: hour..<hour + 1, kind, client).first
    }
}
