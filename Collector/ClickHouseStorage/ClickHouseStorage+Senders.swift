import MartletStorage
import MartletTelemetry

extension ClickHouseStorage {
    package func agents(
        seenSince time: UnixNanoseconds, _ filter: RequestFilter, limit: Int
    ) async throws -> AgentsAnswer {
        let time = Int64(clamping: time)
        let selected = "\(filter.senders(seenAfter: time - min(time, 1))) GROUP BY id"
        var found = try await client.rows(
            SenderRow.columns,
            "\(selected) HAVING seen >= \(time) ORDER BY seen DESC, id LIMIT \(min(limit, 1_000_000))"
        ) { try SenderRow(&$0) }
        let count = try await client.count("FROM (SELECT id \(selected) HAVING max(last_seen) >= \(time))")
        let arrived = try await arrivedRequests(of: found.filter { ($0.record.ledger?.waiting ?? 0) > 0 })
        let gaps = try await gaps(of: Set(found.map(\.record.resource.instance)))
        let ends = found.filter { $0.record.latestEnd > 0 }.map { ($0.id, $0.record.latestEnd) }
        let processes = try await latestProcesses(of: Dictionary(ends) { first, _ in first })
        let shared = try await sharedSenders(of: found.map(\.id))
        for index in found.indices {
            found[index].bringUpToDate(arrived: arrived[found[index].id])
            found[index].record.gaps = gaps[found[index].record.resource.instance]
            found[index].record.process = processes[found[index].id]
            found[index].record.isShared = shared.contains(found[index].id)
        }
        return AgentsAnswer(agents: found.map(\.record), more: max(0, count - found.count))
    }

    /// Returns the number of requests in all batches of each sender.
    private func arrivedRequests(of senders: [SenderRow]) async throws -> [UInt64: UInt64] {
        guard let first = senders.map(\.firstReading).min() else { return [:] }
        let source = try await LedgerSource(from: UInt32(hourOf: first), through: UInt32(hourOf: .max), client)
        let rows = try await client.rows(
            ["sender": "sender", "requests": "sum(r)"],
            "FROM (\(source.rows(where: "sender IN \(SQLText.list(senders.map(\.id)))"))) GROUP BY sender"
        ) { (try $0.number("sender", UInt64.self), UInt64(min(max(0, try $0.double("requests")), 0x1p62))) }
        return Dictionary(rows) { first, _ in first }
    }

    /// Returns the senders that several processes share.
    private func sharedSenders(of senders: [UInt64]) async throws -> Set<UInt64> {
        guard !senders.isEmpty else { return [] }
        return Set(
            try await client.numbers(
                "sender", "FROM shared_sender WHERE sender IN \(SQLText.list(senders)) GROUP BY sender"))
    }

    private func gaps(of instances: Set<String>) async throws -> [String: BatchGaps] {
        guard !instances.isEmpty else { return [:] }
        let rows = try await client.rows(
            ["instance": "instance", "last": "max(last)", "fresh": "sum(fresh)", "overlapping": "sum(overlapping)"],
            """
            FROM batch FINAL WHERE signal = '\(Signal.metrics.rawValue)' AND instance IN \(SQLText.list(instances)) \
            GROUP BY instance
            """
        ) {
            let sequences = BatchSequences(
                highestSequence: try $0.number("last"), arrivedSequences: try $0.number("fresh"),
                overlappingBatches: try $0.number("overlapping"))
            return (try $0.text("instance"), sequences.gaps)
        }
        return Dictionary(rows) { first, _ in first }
    }

    package func values(_ query: ValuesQuery) async throws -> ValuesAnswer {
        // A sender first seen after the window may have requests in it, because it buffers them while the collector is away.
        let from = Int64(clamping: query.window.from)
        let senders = "FROM sender WHERE \(query.filter.senderCondition) AND last_seen > \(from)"
        let series = """
            FROM series WHERE \(query.filter.requestCondition) AND day >= \(UInt32(dayOf: from)) \
            AND service IN (SELECT service \(senders))
            """
        let limit = min(query.limit, 1_000_000)
        let found = try await client.texts(
            "\(query.dimension.expression) AS v",
            "\(query.dimension.isSenderAttribute ? senders : series) ORDER BY v LIMIT \(limit + 2)", distinct: true)
        let values = found.compactMap(query.dimension.value(of:))
        return ValuesAnswer(values: Array(values.prefix(limit)), isThereMore: values.count > limit)
    }
}

/// A sender, combined from all of its rows.
private struct SenderRow {
    let id: UInt64
    var record: AgentRecord
    /// The requests in the batches that brought the ledger's reading.
    private let requests: UInt64
    /// The time of the ledger's first reading; 0 without one.
    let firstReading: Int64

    private static let latest =
        (SenderText.identity + SenderText.state).map(\.column) + ["rules"]
    private static let ofLedger = ["time", "delivered", "waiting", "dropped", "requests", "age", "unwatched", "cpu"]
    static let columns =
        ["id"] + Selection(latest) { "argMax(\($0), last_seen)" }
        + ["first_seen": "min(first_seen)", "last_seen": "max(last_seen) AS seen", "last_end": "max(last_end)"]
        + ["kinds": "groupBitOr(kinds)", "captured": "max(captured)"]
        + ["first_reading": "minIf(first_reading, first_reading > 0)"]
        + Selection(ofLedger) { "argMax(\($0), (captured, time))" }

    init(_ row: inout RowReader) throws {
        id = try row.number("id")
        var resource = try TelemetryResource(&row)
        let rules = Int(clamping: try row.number("rules", Int64.self))
        resource.rules = rules > 0 ? rules : nil
        let ledger = LedgerReading(
            time: try row.time("time"), captured: try row.number("captured"), delivered: try row.number("delivered"),
            waiting: try row.number("waiting"), dropped: DroppedText.dropped(from: try row.text("dropped")),
            age: try row.number("age"), unwatched: try row.number("unwatched"), agentCPU: try row.number("cpu"))
        requests = try row.number("requests")
        firstReading = try row.number("first_reading")
        record = AgentRecord(
            resource: resource, firstSeen: try row.time("first_seen"), lastSeen: try row.time("last_seen"),
            latestEnd: try row.time("last_end"), ledger: ledger.time > 0 ? ledger : nil, gaps: nil,
            statistics: StatisticsBit.sources(of: try row.number("kinds")))
    }

    /// Brings the ledger's account up to date. The agent wrote it before this batch, and the batches waiting with it, had
    /// arrived. Only the agent's figures include requests that went to another collector.
    mutating func bringUpToDate(arrived: UInt64?) {
        guard let ledger = record.ledger else { return }
        record.ledger = ledger.upToDate(requests: requests, arrived: 0)
        if let arrived, record.ledger?.waiting ?? 0 > 0 {
            record.ledger = ledger.upToDate(requests: requests, arrived: arrived)
        }
    }
}
