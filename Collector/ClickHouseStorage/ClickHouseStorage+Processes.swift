import MartletStorage
import MartletTelemetry

/// The figures of processes.
extension ClickHouseStorage {
    package func processes(_ query: ProcessQuery) async throws -> ProcessAnswer {
        let source = PointSource(query.window, rolled: try await client.rolledHours())
        let grid = SlotGrid(source.window, step: query.step, expired: source.expired)
        let senders = try await senders(with: query.filter)
        let limit = ProcessSums.maxProcessSlots
        let rows = try await client.rows(
            """
            SELECT sender, slot, min(start_ns), max(end_ns), \(ProcessStatistics.sums) \
            FROM (\(Self.rows(source, grid, query.filter))) GROUP BY sender, slot LIMIT \(limit + 1)
            """
        ) { try ProcessSlotRow(&$0) }
        guard rows.count <= limit else { throw TooManyGroups(limit: limit) }
        var processes: [UInt64: ProcessSums.Process] = [:]
        for row in rows where row.slot < grid.count {
            var process = processes.removeValue(forKey: row.sender) ?? senders[row.sender]
            process?.add(row.statistics, to: row.slot, from: row.start, to: row.end)
            processes[row.sender] = process
        }
        var sums = ProcessSums(grid, maxSlots: limits.maxGroups)
        for id in processes.keys.sorted() {
            if let process = processes[id] { try sums.add(process) }
        }
        return sums.answer
    }

    /// Returns the figures of the last minute that each of these senders reported.
    ///
    /// - Parameter ends: the latest time that each sender reported.
    func latestProcesses(of ends: [UInt64: UnixNanoseconds]) async throws -> [UInt64: ProcessStatistics] {
        guard !ends.isEmpty else { return [:] }
        // A process reports at least once a minute.
        let hours = ends.flatMap { sender, end in
            let hour = StoredHour.of(Int64(clamping: end))
            return [hour, hour > 0 ? hour - 1 : 0].map { "(\($0), \(sender))" }
        }
        let condition = "(hour, sender) IN (\(hours.joined(separator: ", "))) AND \(ProcessStatistics.isTold)"
        let (slot, minute) = (Tier.fine.length, Tier.minute.length)
        let rows = try await client.rows(
            """
            SELECT sender, \(ProcessStatistics.sums) \
            FROM (SELECT \(Schema.process.columnList) FROM process FINAL WHERE \(condition)) AS told ALL INNER JOIN \
            (SELECT sender, max(end_ns) AS last FROM process FINAL WHERE \(condition) GROUP BY sender) AS latest USING (sender) \
            WHERE end_ns > (intDiv(last - 1, \(slot)) + 1) * \(slot) - \(minute) GROUP BY sender
            """
        ) { (try $0.number(UInt64.self), try ProcessStatistics(&$0)) }
        return Dictionary(rows) { first, _ in first }
    }

    private func senders(with filter: RequestFilter) async throws -> [UInt64: ProcessSums.Process] {
        let rows = try await client.rows(
            """
            SELECT id, any(service), any(instance), argMax(runtime, last_seen), min(first_seen) FROM sender FINAL \
            WHERE \(filter.senderCondition) GROUP BY id
            """
        ) { row in
            let (id, service, instance) = (try row.number(UInt64.self), try row.text(), try row.text())
            let resource = TelemetryResource(service: service, instance: instance, runtime: try row.text().presence)
            let firstSeen = UInt64(clamping: try row.number(Int64.self))
            return (id, ProcessSums.Process(resource, firstSeen: firstSeen))
        }
        return Dictionary(rows) { first, _ in first }
    }

    /// Returns SELECT statements, joined by UNION ALL, for a window's rows with their slots.
    private static func rows(_ source: PointSource, _ grid: SlotGrid, _ filter: RequestFilter) -> String {
        let (from, to) = (Int64(clamping: source.window.from), Int64(clamping: source.window.to))
        let (length, rolled) = (StoredHour.length, source.expired.fine)
        let senders = filter.selectsSenders ? "sender IN (SELECT id FROM sender WHERE \(filter.senderCondition))" : "1"
        let figures = "start_ns, end_ns, counters, counts, covered, gauge_counts, gauge_sums, gauge_maxima"
        var parts: [String] = []
        if from < rolled {
            parts.append(
                """
                SELECT sender, \(grid.slot(of: "(toInt64(hour) + 1) * \(length)")) AS slot, \(figures) FROM process_hour FINAL \
                WHERE hour >= \(from / length) AND hour < \(min(to, rolled) / length) AND \(senders)
                """)
        }
        if to > rolled {
            let first = max(from, rolled)
            parts.append(
                """
                SELECT sender, \(grid.slot(of: "end_ns")) AS slot, \(figures) FROM process FINAL \
                WHERE \(PointSource.times(first, to)) AND \(ProcessStatistics.isTold) AND \(senders)
                """)
        }
        return parts.joined(separator: " UNION ALL ")
    }
}

/// The figures of a process in a slot.
private struct ProcessSlotRow {
    let sender: UInt64
    let slot: Int
    let start: UnixNanoseconds
    let end: UnixNanoseconds
    let statistics: ProcessStatistics

    init(_ reader: inout RowReader) throws {
        sender = try reader.number()
        slot = Int(clamping: try reader.number(UInt64.self))
        start = UInt64(clamping: try reader.number(Int64.self))
        end = UInt64(clamping: try reader.number(Int64.self))
        statistics = try ProcessStatistics(&reader)
    }
}
