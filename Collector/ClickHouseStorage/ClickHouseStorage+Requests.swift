import MartletStorage
import MartletTelemetry

/// The kept spans.
extension ClickHouseStorage {
    package func requests(_ query: RequestsQuery) async throws -> RequestsAnswer {
        let count = try await client.count("FROM detail FINAL WHERE \(query.condition)")
        let key = query.order.key == .time ? "start_ns" : "duration"
        let direction = query.order.ascending ? "ASC" : "DESC"
        // The keys of the page's rows are read first, because reading the texts of all matching rows would take too long.
        let ids = try await client.rows(
            ["trace_low", "span", "identity"],
            """
            FROM detail FINAL WHERE \(query.condition) AND \(try await isAfterPageBefore(query, key)) \
            ORDER BY \(key) \(direction), stored \(direction), identity \(direction) LIMIT \(min(query.limit, 1_000_000) + 1)
            """
        ) {
            DetailID(
                trace: try $0.number("trace_low"), span: try $0.number("span"), identity: try $0.number("identity"))
        }
        let page = ids.prefix(query.limit)
        let spans = try await spans(where: Self.condition(page))
        let byID = Dictionary(spans.map { ($0.id, $0) }) { first, _ in first }
        return RequestsAnswer(
            requests: page.compactMap { byID[$0.description] }, count: count, isThereMore: ids.count > page.count)
    }

    package func request(_ id: String) async throws -> StoredSpan? {
        guard let id = DetailID(id) else { return nil }
        return try await spans(where: id.condition).first
    }

    package func spans(ofTrace trace: TraceID, limit: Int) async throws -> TraceAnswer {
        let condition = "trace_low = \(trace.low) AND trace_high = \(trace.high)"
        let count = try await client.count("FROM detail FINAL WHERE \(condition)")
        let limit = min(limit, 1_000_000)
        let failed = "(is_error OR error != '') AND error != '\(RequestOutcome.cancelledError)'"
        let order = "start_ns, stored, identity"
        let taken = """
            SELECT \(Schema.detail.columnList) FROM detail FINAL WHERE \(condition) \
            ORDER BY \(failed) DESC, \(order) LIMIT \(limit)
            """
        return TraceAnswer(
            spans: try await spans(from: "(\(taken)) AS taken ORDER BY \(order)"), more: max(0, count - limit))
    }

    /// Spans that arrive during the deletion may be kept.
    package func removeDetails() async throws -> Int {
        guard try await client.hasAllReplicas() else {
            throw StorageFailure("a replica of ClickHouse is away; details are deleted when all are there")
        }
        try await rememberCalls()
        let count = try await client.count("FROM detail FINAL")
        try await client.removeRows(of: Schema.detail)
        return count
    }

    private func spans(where condition: String) async throws -> [StoredSpan] {
        try await spans(from: "detail FINAL WHERE \(condition)")
    }

    private func spans(from source: String) async throws -> [StoredSpan] {
        try await client.rows(Selection(Schema.detail), "FROM \(source)") {
            try $0.storedSpan()
        }.compactMap(\.self)
    }

    private static func condition(_ ids: some Collection<DetailID>) -> String {
        guard !ids.isEmpty else { return "0" }
        let keys = ids.map { "(\($0.trace), \($0.span), \($0.identity))" }
        return "(trace_low, span, identity) IN (\(keys.joined(separator: ", ")))"
    }

    /// Returns the condition that a row comes after the last row of the previous page.
    private func isAfterPageBefore(_ query: RequestsQuery, _ key: String) async throws -> String {
        guard let text = query.before else { return "1" }
        guard let id = DetailID(text),
            let last = try await client.rows(
                [key, "stored"], "FROM detail FINAL WHERE \(id.condition)",
                { (value: try $0.number(key, Int64.self), stored: try $0.number("stored", Int64.self)) }
            ).first
        else { throw UnknownRequest(id: text) }
        let sign = query.order.ascending ? ">" : "<"
        return """
            (\(key) \(sign) \(last.value) OR (\(key) = \(last.value) AND (stored \(sign) \(last.stored) \
            OR (stored = \(last.stored) AND identity \(sign) \(id.identity)))))
            """
    }
}
