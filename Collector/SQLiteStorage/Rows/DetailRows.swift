import Foundation
import GRDB
import MartletStorage
import MartletTelemetry

enum DetailRows {
    /// - Parameters:
    ///   - resource: the row of the sender.
    ///   - service: the sender's service.
    ///   - now: the collector's clock.
    static func insert(
        _ detail: SpanRecord, resource: Int64, service: String, at now: UnixNanoseconds, in db: Database
    ) throws {
        let statement = try db.cachedStatement(
            sql: """
                INSERT INTO detail (received, resource_id, service, failed, kind, method, host, port, endpoint, status, error,
                    rule, trace_id, span_id, parent_span_id, start_time, duration, url, bytes_sent, bytes_received, message,
                    name, span_kind, is_error, trace_state, attributes, events, links,
                    dropped_attributes, dropped_events, dropped_links, bytes)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """)
        let request = detail.request.map(SeriesRows.columns) ?? noRequest
        let identity: StatementArguments = [
            detail.traceID.blob, detail.spanID.blob, detail.parentSpanID?.blob ?? Data(),
            Int64(clamping: detail.start), Int64(clamping: detail.durationNanoseconds), detail.url,
            Int64(clamping: detail.bytesSent), Int64(clamping: detail.bytesReceived), detail.message ?? "",
        ]
        let json = [
            try SpanJSON.encode(detail.attributes), try SpanJSON.encode(detail.events),
            try SpanJSON.encode(detail.links),
        ]
        let span: StatementArguments = [
            detail.name, detail.kind.rawValue, detail.isError, detail.traceState, json[0], json[1], json[2],
            Int64(detail.droppedAttributes), Int64(detail.droppedEvents), Int64(detail.droppedLinks),
            bytes(of: detail, service, json),
        ]
        try statement.execute(
            arguments: [
                Int64(clamping: now), resource, service, detail.request.map(RequestClass.init)?.isFailure ?? false,
            ] + request + identity + span)
    }

    /// The bytes of a row: its texts, its numbers and its index entries.
    private static func bytes(of detail: SpanRecord, _ service: String, _ json: [String]) -> Int {
        let request = [
            detail.request?.host, detail.request?.endpoint, detail.request?.method, detail.request?.error,
            detail.request?.rule,
        ]
        let texts = [detail.url, detail.message ?? "", detail.name, detail.traceState, service] + json
        return (texts + request.compactMap { $0 }).reduce(rowBytes) { $0 + $1.utf8.count }
    }

    private static let rowBytes = 300

    /// Whether this span of the same sender is already stored. A client and its server may share a span's id (Zipkin's "shared
    /// spans").
    static func contains(_ detail: SpanRecord, resource: Int64, in db: Database) throws -> Bool {
        let statement = try db.cachedStatement(
            sql: """
                SELECT EXISTS (
                    SELECT 1 FROM detail INDEXED BY detail_by_trace
                    WHERE trace_id = ? AND span_id = ? AND resource_id = ? AND span_kind = ?)
                """)
        let arguments: StatementArguments = [
            detail.traceID.blob, detail.spanID.blob, resource, detail.kind.rawValue,
        ]
        return try Bool.fetchOne(statement, arguments: arguments) ?? false
    }

    /// Returns `nil` if the row is not a valid span.
    static func decode(_ row: Row) throws -> SpanRecord? {
        let (trace, id, parent): (Data, Data, Data) = (row["trace_id"], row["span_id"], row["parent_span_id"])
        guard let traceID = TraceID(bytes: trace), let spanID = SpanID(bytes: id),
            let kind = SpanRecord.Kind(rawValue: row["span_kind"])
        else { return nil }
        var span = SpanRecord(
            traceID: traceID, spanID: spanID, parentSpanID: SpanID(bytes: parent), name: row["name"], kind: kind,
            start: unsigned(row["start_time"]), durationNanoseconds: unsigned(row["duration"]))
        span.traceState = row["trace_state"]
        span.isError = row["is_error"]
        let message: String = row["message"]
        span.message = message.isEmpty ? nil : message
        span.request = SeriesRows.decode(row)
        span.url = row["url"]
        span.bytesSent = unsigned(row["bytes_sent"])
        span.bytesReceived = unsigned(row["bytes_received"])
        span.attributes = try SpanJSON.attributes(row["attributes"])
        span.events = try SpanJSON.events(row["events"])
        span.links = try SpanJSON.links(row["links"])
        span.droppedAttributes = UInt32(clamping: unsigned(row["dropped_attributes"]))
        span.droppedEvents = UInt32(clamping: unsigned(row["dropped_events"]))
        span.droppedLinks = UInt32(clamping: unsigned(row["dropped_links"]))
        return span
    }

    /// Empty columns in the order of ``SeriesRows``.
    private static var noRequest: StatementArguments { ["", "", "", 0, "", 0, "", ""] }

    private static func unsigned(_ number: Int64) -> UInt64 { UInt64(clamping: number) }
}

extension TraceID {
    var blob: Data { Data(bytes) }
}

extension SpanID {
    var blob: Data { Data(bytes) }
}

/// The id of a kept span as people see it: the number of its row in base 36, with the digits 0 to 9 and a to z.
struct DetailID: CustomStringConvertible {
    let row: Int64

    var description: String { String(row, radix: 36) }
}

extension DetailID {
    /// Returns `nil` if the text is not such a number.
    init?(_ text: String) {
        guard let row = Int64(text, radix: 36), row > 0 else { return nil }
        self.row = row
    }
}
