import Foundation
import GRDB
import MartletStorage
import MartletTelemetry

enum DetailRows {
    /// - Parameters:
    ///   - resource: the row of the sender.
    ///   - service: the sender's service.
    ///   - owner: whose room the span takes.
    ///   - now: the collector's clock.
    static func insert(
        _ detail: SpanRecord, resource: Int64, service: String, owner: DetailOwner, at now: UnixNanoseconds,
        in db: Database
    ) throws {
        let json = [
            try SpanJSON.encode(detail.attributes), try SpanJSON.encode(detail.events),
            try SpanJSON.encode(detail.links),
        ]
        try insertion.insert(
            NewRow(
                span: detail, json: json, resource: resource, service: service, owner: owner,
                received: Int64(clamping: now)),
            in: db)
    }

    /// A span with what its row has besides.
    private struct NewRow {
        let span: SpanRecord
        /// The attributes, events and links.
        let json: [String]
        let resource: Int64
        let service: String
        let owner: DetailOwner
        let received: Int64
    }

    private typealias Column = NamedColumn<NewRow>

    private static let insertion = RowInsertion(
        into: "detail",
        [identity, requestDimensions, request, span].flatMap(\.self))

    private static let requestDimensions: [Column] = SeriesRows.columns.map { column in
        Column(column.name) { column.value($0.span.request) }
    }
    private static let identity: [Column] = [
        Column("received") { $0.received }, Column("resource_id") { $0.resource }, Column("service") { $0.service },
        Column("owner") { $0.owner.endpoint }, Column("notable") { $0.owner.isNotable },
        Column("trace_id") { $0.span.traceID.blob }, Column("span_id") { $0.span.spanID.blob },
        Column("parent_span_id") { $0.span.parentSpanID?.blob ?? Data() },
    ]
    private static let request: [Column] = [
        Column("failed") { $0.span.request.map(RequestClass.init)?.isFailure ?? false }, Column("url") { $0.span.url },
        Column("bytes_sent") { Int64(clamping: $0.span.bytesSent) },
        Column("bytes_received") { Int64(clamping: $0.span.bytesReceived) },
        Column("message") { $0.span.message ?? "" },
    ]
    private static let span: [Column] = [
        Column("start_time") { Int64(clamping: $0.span.start) },
        Column("duration") { Int64(clamping: $0.span.durationNanoseconds) }, Column("name") { $0.span.name },
        Column("span_kind") { $0.span.kind.rawValue }, Column("is_error") { $0.span.isError },
        Column("trace_state") { $0.span.traceState }, Column("attributes") { $0.json[0] },
        Column("events") { $0.json[1] }, Column("links") { $0.json[2] },
        Column("dropped_attributes") { Int64($0.span.droppedAttributes) },
        Column("dropped_events") { Int64($0.span.droppedEvents) },
        Column("dropped_links") { Int64($0.span.droppedLinks) },
        Column("bytes") { bytes(of: $0.span, $0.service, $0.json) },
    ]

    /// The bytes of a row: its texts, its numbers and its index entries.
    private static func bytes(of detail: SpanRecord, _ service: String, _ json: [String]) -> Int {
        let request = [
            detail.request?.system, detail.request?.host, detail.request?.endpoint, detail.request?.method,
            detail.request?.error, detail.request?.rule,
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

    /// Returns the stored spans of a sender in some traces, with what ``RequestSpans`` uses. Of many spans, it reads only some.
    static func outlines(ofTraces traces: Set<TraceID>, resource: Int64, in db: Database) throws -> [SpanRecord] {
        let statement = try db.cachedStatement(
            sql: """
                SELECT resource_id, trace_id, span_id, parent_span_id, span_kind, url, \(SeriesRows.list)
                FROM detail INDEXED BY detail_by_trace WHERE trace_id = ?
                """)
        // Most traces are new, and a cursor costs more than this look-up.
        let known = try db.cachedStatement(
            sql: "SELECT 1 FROM detail INDEXED BY detail_by_trace WHERE trace_id = ? LIMIT 1")
        var (spans, readOfAll) = ([SpanRecord](), 0)
        for trace in traces where try Int.fetchOne(known, arguments: [trace.blob]) != nil {
            let rows = try Row.fetchCursor(statement, arguments: [trace.blob])
            var read = 0
            while read < RequestSpans.maxStored, readOfAll < RequestSpans.maxStoredOfAll, let row = try rows.next() {
                readOfAll += 1
                let sender: Int64 = row["resource_id"]
                guard sender == resource else { continue }
                read += 1
                if let span = outline(row) { spans.append(span) }
            }
        }
        return spans
    }

    private static func outline(_ row: Row) -> SpanRecord? {
        let (trace, id, parent): (Data, Data, Data) = (row["trace_id"], row["span_id"], row["parent_span_id"])
        guard let traceID = TraceID(bytes: trace), let spanID = SpanID(bytes: id),
            let kind = SpanRecord.Kind(rawValue: row["span_kind"])
        else { return nil }
        var span = SpanRecord(
            traceID: traceID, spanID: spanID, parentSpanID: SpanID(bytes: parent), name: "", kind: kind, start: 0,
            durationNanoseconds: 0)
        span.request = SeriesRows.decode(row)
        span.url = row["url"]
        return span
    }

    /// Returns `nil` if the row is not a valid span.
    static func decode(_ row: Row) throws -> SpanRecord? {
        guard var span = outline(row) else { return nil }
        span.name = row["name"]
        span.start = row.unsigned("start_time")
        span.durationNanoseconds = row.unsigned("duration")
        span.traceState = row["trace_state"]
        span.isError = row["is_error"]
        let message: String = row["message"]
        span.message = message.isEmpty ? nil : message
        span.bytesSent = row.unsigned("bytes_sent")
        span.bytesReceived = row.unsigned("bytes_received")
        span.attributes = try SpanJSON.attributes(row["attributes"])
        span.events = try SpanJSON.events(row["events"])
        span.links = try SpanJSON.links(row["links"])
        span.droppedAttributes = UInt32(clamping: row.unsigned("dropped_attributes"))
        span.droppedEvents = UInt32(clamping: row.unsigned("dropped_events"))
        span.droppedLinks = UInt32(clamping: row.unsigned("dropped_links"))
        return span
    }
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
