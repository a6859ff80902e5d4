import GRDB
import MartletStorage
import MartletTelemetry

extension SQLiteStorage {
    package func processes(_ query: ProcessQuery) async throws -> ProcessAnswer {
        try await health.watching {
            try await pool.read { [limits] db in
                let expired = try ExpiredRows.times(in: db)
                let grid = SlotGrid(query.window, step: query.step, expired: expired)
                return try Self.sums(query.filter, in: grid, limits, in: db).answer
            }
        }
    }

    private static func sums(
        _ filter: RequestFilter, in grid: SlotGrid, _ limits: SQLiteLimits, in db: Database
    ) throws -> ProcessSums {
        let tier = Tier(ofSlots: grid.step)
        let from = Int64(clamping: grid.window.from)
        let (end, isPastAllTime) = Int64(clamping: grid.window.to).addingReportingOverflow(tier.length)
        let to = isPastAllTime ? .max : end
        // CROSS JOIN keeps the order of the tables: a search for each sender.
        let rows = try SQLRequest<Row>(
            literal: """
                SELECT resource.*, resource.id AS sender, p.* FROM resource
                CROSS JOIN process_slot p ON p.resource_id = resource.id AND p.tier = \(tier.rawValue)
                    AND p.end_time > \(from) AND p.end_time < \(to)
                WHERE \(filter.senderCondition) AND resource.last_end > \(from)
                ORDER BY resource.id, p.end_time
                """
        ).fetchCursor(db)
        var sums = ProcessSums(grid, maxSlots: limits.maxGroups)
        var current: (id: Int64, process: ProcessSums.Process)?
        while let row = try rows.next() {
            let (id, first): (Int64, Int64) = (row["sender"], row["first_seen"])
            if current?.id != id {
                if let done = current?.process { try sums.add(done) }
                current = (id, ProcessSums.Process(ResourceRows.decode(row), firstSeen: UInt64(clamping: first)))
            }
            guard let statistics = ProcessRows.decode(row) else { continue }
            let (slotEnd, start, end): (Int64, Int64, Int64) = (row["end_time"], row["from_time"], row["to_time"])
            current?.process.add(
                statistics, to: grid.index(of: min(UInt64(clamping: slotEnd), grid.window.to)),
                from: UInt64(clamping: start), to: UInt64(clamping: end))
        }
        if let done = current?.process { try sums.add(done) }
        return sums
    }

    /// Returns the figures of the last minute that a sender told of; `nil` if the finest resolution has none.
    static func latestProcess(of resource: Int64, in db: Database) throws -> ProcessStatistics? {
        let rows = try Row.fetchAll(
            db.cachedStatement(
                sql: """
                    SELECT * FROM process_slot WHERE resource_id = ? AND tier = \(Tier.fine.rawValue)
                    ORDER BY end_time DESC LIMIT \(Tier.minute.length / Tier.fine.length)
                    """), arguments: [resource])
        guard let last: Int64 = rows.first?["end_time"] else { return nil }
        return rows.filter { $0["end_time"] > last - Tier.minute.length }.compactMap(ProcessRows.decode)
            .reduce(into: ProcessStatistics()) { $0.merge($1) }
    }
}

extension Tier {
    /// The coarsest tier whose slots fit into slots of this length.
    fileprivate init(ofSlots length: UInt64) {
        self = [.hour, .minute].first { length % UInt64($0.length) == 0 } ?? .fine
    }
}
