/// The hours before which a store has only hours and no points, as numbers of hours since 1970. They only grow.
///
/// The hours of an older Martlet belonged to processes. Its collectors may still run, and maintenance turns their hours into
/// hours of versions. Until then those are read as they are.
struct RolledHours: Equatable {
    /// Before it, points are read from `version_hour`.
    var ofVersions: Int64 = 0
    /// From ``ofVersions`` to this hour, points are read from `hour`.
    var ofProcesses: Int64 = 0

    /// The hour before which there are no points.
    var end: Int64 { max(ofVersions, ofProcesses) }

    /// Whether only the table `hour` has an hour.
    func isOnlyOfProcesses(_ hour: Int64) -> Bool { hour >= ofVersions && hour < ofProcesses }
}

extension ClickHouseClient {
    func rolledHours() async throws -> RolledHours {
        let found = try await rows(
            ["versions": "max(v)", "processes": "max(p)"],
            """
            FROM (SELECT until AS v, toUInt32(0) AS p FROM versions_rolled UNION ALL \
            SELECT toUInt32(0) AS v, until AS p FROM rolled)
            """
        ) {
            RolledHours(
                ofVersions: Int64(try $0.number("versions", UInt32.self)),
                ofProcesses: Int64(try $0.number("processes", UInt32.self)))
        }
        return found.first ?? RolledHours()
    }
}
