import MartletStorage
import MartletTelemetry

/// The kept findings, and the collector that computes them.
extension ClickHouseStorage {
    package func keep(_ findings: [FindingRecord], removing removed: [FindingRecord]) async throws {
        var rows = TableRows(Schema.finding)
        for record in removed { rows.append(record, text: "") }
        for record in findings { rows.append(record, text: record.text) }
        try await client.insert(rows)
    }

    /// The states of a finding may lie in several parts, so the latest one is chosen here.
    package func findings(_ query: FindingRecordsQuery) async throws -> [FindingRecord] {
        let latest = ["began", "end_ns", "text"].map { "argMax(\($0), changed) AS last_\($0)" }
        let selected = query.environments.map { "environment IN \(SQLText.list($0))" } ?? "1"
        return try await client.rows(
            ["environment": "environment", "id": "id", "changed": "max(changed)"]
                + ["began": latest[0], "end_ns": latest[1], "text": latest[2]],
            """
            FROM finding WHERE \(selected) GROUP BY environment, id \
            HAVING last_text != '' AND last_began < \(Int64(clamping: query.window.to)) \
            AND (last_end_ns = 0 OR last_end_ns > \(Int64(clamping: query.window.from))) \
            ORDER BY last_began DESC, id LIMIT \(min(query.limit, 1_000_000))
            """
        ) { try $0.findingRecord() }
    }

    /// Takes the lease if nobody has it, and renews it if this collector has it. If several collectors take it at once, each has
    /// stored its row before it looks whose lease began first, so only one of them finds its own.
    package func leaseFindings(to owner: String, seconds: Int) async throws -> Bool {
        let leases = try await FindingsLease.all(client)
        let holder = FindingsLease.holder(of: leases)
        guard holder.map({ $0.owner == owner }) ?? (seconds > 0) else { return false }
        let revision = leases.first { $0.owner == owner }?.revision ?? 0
        let row: Selection = [
            "owner": SQLText.quoted(owner), "revision": "toUInt64(\(revision + 1))",
            "since": holder.map { "toInt64(\($0.since))" } ?? FindingsLease.serverTime,
            "until": "\(FindingsLease.serverTime) + \(Int64(seconds) * 1_000_000_000)",
        ]
        try await client.run(row.insert(into: Schema.findingsLease))
        return FindingsLease.holder(of: try await FindingsLease.all(client))?.owner == owner
    }
}

/// The latest row of a collector in `findings_lease`.
private struct FindingsLease {
    let owner: String
    let revision: UInt64
    let since: Int64
    /// Whether it has not ended.
    let isValid: Bool

    /// The present time by ClickHouse's clock, because collectors' clocks differ.
    static let serverTime = "toInt64(toUnixTimestamp(now())) * 1000000000"

    static func all(_ client: ClickHouseClient) async throws -> [FindingsLease] {
        try await client.rows(
            ["owner": "owner", "revision": "max(revision)", "since": "argMax(since, revision)"]
                + ["is_valid": "argMax(until, revision) > \(serverTime)"],
            "FROM findings_lease GROUP BY owner"
        ) {
            FindingsLease(
                owner: try $0.text("owner"), revision: try $0.number("revision"), since: try $0.number("since"),
                isValid: try $0.flag("is_valid"))
        }
    }

    static func holder(of leases: [FindingsLease]) -> FindingsLease? {
        leases.filter(\.isValid).min { ($0.since, $0.owner) < ($1.since, $1.owner) }
    }
}

extension TableRows {
    fileprivate mutating func append(_ record: FindingRecord, text: String) {
        append { row in
            row.text(record.environment)
            row.text(record.id)
            for time in [record.began, record.end ?? 0, record.changed] { row.number(Int64(clamping: time)) }
            row.text(text)
        }
    }
}

extension RowReader {
    fileprivate mutating func findingRecord() throws -> FindingRecord {
        let end = try time("end_ns")
        return FindingRecord(
            environment: try text("environment"), id: try text("id"), began: try time("began"),
            end: end > 0 ? end : nil, changed: try time("changed"), text: try text("text"))
    }
}

/// What receivers have acknowledged about findings.
extension ClickHouseStorage {
    package func notified(_ key: NotificationKey) async throws -> NotifiedState? {
        let state: UInt8? = try await client.number(
            "state", "FROM notification WHERE name = \(SQLText.bytes(key.bytes)) ORDER BY time DESC LIMIT 1")
        return state.flatMap(NotifiedState.init)
    }

    package func setNotified(_ key: NotificationKey, _ state: NotifiedState) async throws {
        let time = Int64(clamping: now())
        var rows = TableRows(Schema.notification)
        rows.append { row in
            row.fixed(key.bytes)
            row.number(UInt32(dayOf: time))
            row.number(time)
            row.number(state.rawValue)
        }
        try await client.insert(rows)
    }
}
