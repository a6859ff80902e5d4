import MartletStorage
import MartletTelemetry

/// The figures of processes.
extension ClickHouseStorage {
    package func processes(_ query: ProcessQuery) async throws -> ProcessAnswer {
        let source = PointSource(query.window, try await client.rolledHours())
        let grid = SlotGrid(source.window, step: query.step, expired: source.expired)
        let senders = try await senders(with: query.filter, since: Int64(clamping: source.window.from))
        let limit = ProcessSums.maxProcessSlots
        let rows = try await client.rows(
            ["sender", "slot"] + ["start": "min(start_ns)", "end": "max(end_ns)"] + ProcessStatistics.sums,
            "FROM (\(Self.rows(source, grid, query.filter))) GROUP BY sender, slot LIMIT \(limit + 1)"
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

    /// Returns each sender's figures for the last minute that it reported.
    ///
    /// - Parameter ends: the latest time that each sender reported.
    func latestProcesses(of ends: [UInt64: UnixNanoseconds]) async throws -> [UInt64: ProcessStatistics] {
        guard !ends.isEmpty else { return [:] }
        // A process reports at least once a minute.
        let hours = ends.flatMap { sender, end in
            let hour = UInt32(hourOf: Int64(clamping: end))
            return [hour, hour > 0 ? hour - 1 : 0].map { "(\($0), \(sender))" }
        }
        let condition = "(hour, sender) IN (\(hours.joined(separator: ", "))) AND \(ProcessStatistics.hasFigures)"
        let (slot, minute) = (Tier.fine.length, Tier.minute.length)
        let rows = try await client.rows(
            ["sender"] + ProcessStatistics.sums,
            """
            FROM (SELECT \(Schema.process.columnList) FROM process FINAL WHERE \(condition)) AS reported ALL INNER JOIN \
            (SELECT sender, max(end_ns) AS last FROM process FINAL WHERE \(condition) GROUP BY sender) AS latest USING (sender) \
            WHERE end_ns > (intDiv(last - 1, \(slot)) + 1) * \(slot) - \(minute) GROUP BY sender
            """
        ) { (try $0.number("sender", UInt64.self), try ProcessStatistics(&$0)) }
        return Dictionary(rows) { first, _ in first }
    }

    /// The ledger's table has no losses. Those of a sender's latest reading are in the minute of that reading.
    package func histories(in window: TimeWindow, _ filter: RequestFilter) async throws -> [SenderHistory] {
        let senders = try await lastReadings(with: filter, since: Int64(clamping: window.from))
        var histories = SenderHistories(of: senders.mapValues(\.resource))
        let times = PointSource.times(Int64(clamping: window.from), Int64(clamping: window.to))
        for (sender, end) in try await minutesOfPoints("\(times) AND \(filter.conditionOnSender)") {
            try histories.add(sender, end: end)
        }
        for (sender, end, figures) in try await minutesOfProcesses("\(times) AND \(filter.conditionOnSender)") {
            try histories.add(sender, end: end, residentMemory: figures.gauges[.residentMemory]?.mean)
        }
        for (sender, reading) in senders {
            guard let losses = reading.losses, losses.time > window.from, losses.time <= window.to else { continue }
            try histories.add(sender, end: losses.time, losses: losses)
        }
        return histories.all
    }

    private static let bySenderAndMinute =
        "GROUP BY sender, intDiv(end_ns - 1, \(Tier.minute.length)) LIMIT \(SenderHistories<UInt64>.maxMinutes + 1)"

    private func minutesOfPoints(_ condition: String) async throws -> [(UInt64, UnixNanoseconds)] {
        let points = ["point", "difference"].map { "SELECT sender, end_ns FROM \($0) WHERE \(condition)" }
        return try await client.rows(
            ["sender": "sender", "end": "max(end_ns)"],
            "FROM (\(points.joined(separator: " UNION ALL "))) \(Self.bySenderAndMinute)"
        ) { (try $0.number("sender"), try $0.time("end")) }
    }

    private func minutesOfProcesses(
        _ condition: String
    ) async throws -> [(UInt64, UnixNanoseconds, ProcessStatistics)] {
        try await client.rows(
            ["sender": "sender", "end": "max(end_ns)"] + ProcessStatistics.sums,
            "FROM process FINAL WHERE \(condition) AND \(ProcessStatistics.hasFigures) \(Self.bySenderAndMinute)"
        ) { (try $0.number("sender"), try $0.time("end"), try ProcessStatistics(&$0)) }
    }

    /// Returns the senders with points after a time, each with its latest ledger.
    private func lastReadings(
        with filter: RequestFilter, since from: Int64
    ) async throws -> [UInt64: (resource: TelemetryResource, losses: LossReading?)] {
        let rows = try await client.rows(
            ["id": "id"] + Selection(SenderText.dimensions.map(\.column)) { "any(\($0))" }
                + Selection(["time", "dropped", "age"]) { "argMax(\($0), (captured, time))" },
            "\(filter.senders(after: from)) GROUP BY id HAVING max(last_end) > \(from)"
        ) { row in
            let losses = LossReading(
                time: try row.time("time"), dropped: DroppedText.dropped(from: try row.text("dropped")),
                age: try row.number("age"))
            return (
                try row.number("id", UInt64.self),
                (resource: try TelemetryResource(dimensions: &row), losses: losses.time > 0 ? losses : nil)
            )
        }
        return Dictionary(rows) { first, _ in first }
    }

    /// Returns the senders that may have figures after a time.
    private func senders(
        with filter: RequestFilter, since from: Int64
    ) async throws -> [UInt64: ProcessSums.Process] {
        let rows = try await client.rows(
            [
                "id": "id", "service": "any(service)", "instance": "any(instance)",
                "runtime": "argMax(runtime, last_seen)", "first_seen": "min(first_seen)",
            ],
            "\(filter.senders(after: from)) GROUP BY id"
        ) { row in
            let resource = TelemetryResource(
                service: try row.text("service"), instance: try row.text("instance"),
                runtime: try row.text("runtime").presence)
            let process = ProcessSums.Process(resource, firstSeen: try row.time("first_seen"))
            return (try row.number("id", UInt64.self), process)
        }
        return Dictionary(rows) { first, _ in first }
    }

    /// Returns SELECT statements, joined by UNION ALL, for the rows of process figures in a window, each with its slot.
    private static func rows(_ source: PointSource, _ grid: SlotGrid, _ filter: RequestFilter) -> String {
        let (from, to) = (Int64(clamping: source.window.from), Int64(clamping: source.window.to))
        let (length, rolled) = (StoredHour.length, source.expired.fine)
        let figures = "start_ns, end_ns, counters, counts, covered, gauge_counts, gauge_sums, gauge_maxima"
        var parts: [String] = []
        if from < rolled {
            parts.append(
                """
                SELECT sender, \(grid.slot(of: "(toInt64(hour) + 1) * \(length)")) AS slot, \(figures) FROM process_hour FINAL \
                WHERE hour >= \(from / length) AND hour < \(min(to, rolled) / length) AND \(filter.conditionOnSender)
                """)
        }
        if to > rolled {
            let first = max(from, rolled)
            parts.append(
                """
                SELECT sender, \(grid.slot(of: "end_ns")) AS slot, \(figures) FROM process FINAL \
                WHERE \(PointSource.times(first, to)) AND \(ProcessStatistics.hasFigures) AND \(filter.conditionOnSender)
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
        sender = try reader.number("sender")
        slot = Int(clamping: try reader.number("slot", UInt64.self))
        start = try reader.time("start")
        end = try reader.time("end")
        statistics = try ProcessStatistics(&reader)
    }
}
