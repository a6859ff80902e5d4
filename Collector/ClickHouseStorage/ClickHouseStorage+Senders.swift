import MartletStorage
import MartletTelemetry

extension ClickHouseStorage {
    package func agents(
        seenSince time: UnixNanoseconds, _ filter: RequestFilter, limit: Int
    ) async throws -> AgentsAnswer {
        let time = Int64(clamping: time)
        let selected = "FROM sender FINAL WHERE \(filter.senderCondition) GROUP BY id"
        var found = try await client.rows(
            """
            SELECT id, any(service), argMax(version, last_seen), argMax(environment, last_seen), any(instance), argMax(host, last_seen), \
            argMax(capture_mode, last_seen), argMax(capture_reason, last_seen), argMax(agent, last_seen), argMax(runtime, last_seen), \
            argMax(rules, last_seen), \
            min(first_seen), max(last_seen) AS seen, max(last_end), groupBitOr(kinds), \
            argMax(time, (captured, time)), max(captured), argMax(delivered, (captured, time)), \
            argMax(waiting, (captured, time)), argMax(dropped, (captured, time)), argMax(requests, (captured, time)), \
            argMax(age, (captured, time)), argMax(unwatched, (captured, time)), argMax(cpu, (captured, time)) \
            \(selected) HAVING seen >= \(time) ORDER BY seen DESC, id LIMIT \(min(limit, 1_000_000))
            """
        ) { try SenderRow(&$0) }
        let count =
            try await client.rows(
                "SELECT count() FROM (SELECT id \(selected) HAVING max(last_seen) >= \(time))"
            ) { Int(clamping: try $0.number(UInt64.self)) }.first ?? 0
        let waiting = found.filter { ($0.record.ledger?.waiting ?? 0) > 0 }.map(\.id)
        let arrived = try await arrivedRequests(of: waiting)
        let gaps = try await gaps(of: Set(found.map(\.record.resource.instance)))
        let ends = found.filter { $0.record.latestEnd > 0 }.map { ($0.id, $0.record.latestEnd) }
        let processes = try await latestProcesses(of: Dictionary(ends) { first, _ in first })
        for index in found.indices {
            found[index].bringUpToDate(arrived: arrived[found[index].id])
            found[index].record.gaps = gaps[found[index].record.resource.instance]
            found[index].record.process = processes[found[index].id]
        }
        return AgentsAnswer(agents: found.map(\.record), more: max(0, count - found.count))
    }

    /// Returns the requests in all batches of senders.
    private func arrivedRequests(of senders: [UInt64]) async throws -> [UInt64: UInt64] {
        guard !senders.isEmpty else { return [:] }
        let rows = try await client.rows(
            "SELECT sender, sum(requests) FROM ledger FINAL WHERE sender IN \(SQLText.list(senders)) GROUP BY sender"
        ) { (try $0.number(UInt64.self), try $0.number(UInt64.self)) }
        return Dictionary(rows) { first, _ in first }
    }

    private func gaps(of instances: Set<String>) async throws -> [String: BatchGaps] {
        guard !instances.isEmpty else { return [:] }
        let rows = try await client.rows(
            """
            SELECT instance, max(last), sum(fresh), sum(overlapping) FROM batch FINAL \
            WHERE signal = '\(Signal.metrics.rawValue)' AND instance IN \(SQLText.list(instances)) GROUP BY instance
            """
        ) { row in
            (
                try row.text(),
                BatchSequences(
                    highestSequence: try row.number(), arrivedSequences: try row.number(),
                    overlappingBatches: try row.number())
            )
        }
        return Dictionary(rows.map { ($0, $1.gaps) }) { first, _ in first }
    }

    package func values(_ query: ValuesQuery) async throws -> ValuesAnswer {
        // A sender first seen after the window may have requests in it, which it kept while the collector was away.
        let from = Int64(clamping: query.window.from)
        let senders = "FROM sender FINAL WHERE \(query.filter.senderCondition) AND last_seen > \(from)"
        let value = query.dimension.expression
        let sql: String
        if query.dimension.isOfSender {
            sql = "SELECT DISTINCT \(value) AS v \(senders)"
        } else {
            sql = """
                SELECT DISTINCT \(value) AS v FROM series WHERE \(query.filter.requestCondition) \
                AND day >= \(StoredDay.of(from)) AND service IN (SELECT service \(senders))
                """
        }
        let limit = min(query.limit, 1_000_000)
        let found = try await client.rows(sql + " ORDER BY v LIMIT \(limit + 2)") { try $0.text() }
        let values = found.compactMap(query.dimension.value(of:))
        return ValuesAnswer(values: Array(values.prefix(limit)), isThereMore: values.count > limit)
    }
}

/// A sender, combined from all of its rows.
private struct SenderRow {
    let id: UInt64
    var record: AgentRecord
    /// Requests in the batches of the latest reading.
    private let requests: UInt64

    init(_ reader: inout RowReader) throws {
        id = try reader.number()
        let texts = try (0..<9).map { _ in try reader.text() }
        let rules = Int(clamping: try reader.number(Int64.self))
        let times = try (0..<3).map { _ in UInt64(clamping: try reader.number(Int64.self)) }
        let kinds = try reader.number(UInt8.self)
        let time = try reader.number(Int64.self)
        let counts = try (0..<3).map { _ in try reader.number(UInt64.self) }
        let dropped = DroppedText.dropped(from: try reader.text())
        let figures = try (0..<4).map { _ in try reader.number(UInt64.self) }
        requests = figures[0]
        var resource = TelemetryResource(texts: texts)
        resource.rules = rules > 0 ? rules : nil
        let ledger = LedgerReading(
            time: UInt64(clamping: time), captured: counts[0], delivered: counts[1], waiting: counts[2],
            dropped: dropped, age: figures[1], unwatched: figures[2], agentCPU: figures[3])
        record = AgentRecord(
            resource: resource, firstSeen: times[0], lastSeen: times[1], latestEnd: times[2],
            ledger: time > 0 ? ledger : nil, gaps: nil, statistics: StatisticsBit.sources(of: kinds))
    }

    /// Brings the account up to date. The agent wrote it before its batch and the batches waiting with it arrived. Only the agent's
    /// figure includes requests that went to another collector.
    mutating func bringUpToDate(arrived: UInt64?) {
        guard let ledger = record.ledger else { return }
        record.ledger = ledger.upToDate(requests: requests, arrived: 0)
        if let arrived, record.ledger?.waiting ?? 0 > 0 {
            record.ledger = ledger.upToDate(requests: requests, arrived: arrived)
        }
    }
}
