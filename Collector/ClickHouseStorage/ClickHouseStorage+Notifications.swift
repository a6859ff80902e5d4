import MartletStorage

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
