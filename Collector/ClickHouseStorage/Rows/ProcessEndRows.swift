import MartletStorage
import MartletTelemetry

extension TableRows {
    /// Appends an end as a row of `process_end`.
    mutating func append(_ stored: StoredEnd) {
        let (end, time) = (stored.end, Int64(clamping: stored.end.time))
        append { row in
            row.number(UInt32(hourOf: time))
            for text in [stored.service, stored.environment, end.version, end.instance, stored.reporter] {
                row.text(text)
            }
            row.number(time)
            for text in [end.cause.rawValue, end.signal, end.function, end.file] { row.text(text) }
            row.number(Int64(end.line ?? 0))
            row.text(end.endpoint)
        }
    }
}

/// The ends of processes that batches bring and that are not stored yet.
struct NewEnds {
    private struct Key: Hashable {
        let service: String
        let environment: String
        let instance: String
        let time: Int64

        init(_ service: String, _ environment: String, _ instance: String, _ time: Int64) {
            (self.service, self.environment, self.instance, self.time) = (service, environment, instance, time)
        }

        init(_ end: ReportedEnd, _ reporter: TelemetryResource) {
            self.init(reporter.service, reporter.environment ?? "", end.instance, Int64(clamping: end.time))
        }

        /// The values of the table's key.
        var condition: String {
            let texts = [service, environment, instance].map(SQLText.quoted).joined(separator: ", ")
            return "(\(UInt32(hourOf: time)), \(texts), \(time))"
        }
    }

    /// The rows to store.
    private(set) var rows = TableRows(Schema.processEnd)
    private var known: Set<Key>

    /// Looks up which of the ends in batches are stored.
    init(in batches: [PendingBatch], _ client: ClickHouseClient) async throws {
        let keys = batches.flatMap { batch -> [Key] in
            guard case .metrics(let metrics) = batch.contents else { return [] }
            return metrics.flatMap { one in one.ends.map { Key($0, one.resource) } }
        }
        guard !keys.isEmpty else {
            known = []
            return
        }
        let list = Set(keys).map(\.condition).joined(separator: ", ")
        known = Set(
            try await client.rows(
                ["service", "environment", "instance", "end_ns"],
                "FROM process_end WHERE (hour, service, environment, instance, end_ns) IN (\(list))", distinct: true
            ) {
                Key(
                    try $0.text("service"), try $0.text("environment"), try $0.text("instance"),
                    try $0.number("end_ns"))
            })
    }

    /// Adds the ends of a sender that are new, and returns them.
    mutating func add(_ ends: [ReportedEnd], from reporter: TelemetryResource) -> [ReportedEnd] {
        let new = ends.filter { known.insert(Key($0, reporter)).inserted }
        for end in new {
            rows.append(
                StoredEnd(
                    service: reporter.service, environment: reporter.environment, reporter: reporter.instance,
                    end: end))
        }
        return new
    }
}

extension ClickHouseStorage {
    package func processEnds(
        in window: TimeWindow, _ filter: RequestFilter, limit: Int
    ) async throws -> [StoredEnd] {
        let (from, to) = (Int64(clamping: window.from), Int64(clamping: window.to))
        return try await client.rows(
            [
                "service", "environment", "version", "instance", "reporter", "end_ns", "cause", "signal", "function",
                "file", "line", "endpoint",
            ],
            """
            FROM process_end FINAL WHERE hour BETWEEN \(UInt32(hourOf: from)) AND \(UInt32(hourOf: to)) \
            AND end_ns > \(from) AND end_ns <= \(to) AND \(filter.senderCondition) \
            ORDER BY end_ns DESC, instance LIMIT \(min(limit, 1_000_000))
            """
        ) { try StoredEnd(&$0) }
    }
}

extension StoredEnd {
    fileprivate init(_ row: inout RowReader) throws {
        let line = Int(clamping: try row.number("line", Int64.self))
        self.init(
            service: try row.text("service"), environment: try row.text("environment").presence,
            reporter: try row.text("reporter"),
            end: ReportedEnd(
                instance: try row.text("instance"), version: try row.text("version").presence,
                time: try row.time("end_ns"),
                cause: EndCause(rawValue: try row.text("cause")) ?? .unknown,
                signal: try row.text("signal").presence, function: try row.text("function").presence,
                file: try row.text("file").presence, line: line > 0 ? line : nil,
                endpoint: try row.text("endpoint").presence))
    }
}
