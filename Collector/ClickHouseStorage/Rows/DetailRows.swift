import MartletStorage
import MartletTelemetry

/// Kept spans as rows of `detail`.
extension TableRows {
    /// - Parameters:
    ///   - identity: see ``RowIdentity/span(_:of:in:)``.
    ///   - stored: a time of arrival that increases from span to span, so that spans can be listed in order of arrival.
    mutating func append(
        _ span: SpanRecord, of resource: TelemetryResource, sender: UInt64, identity: UInt64, stored: Int64
    ) throws {
        let json = [
            try SpanJSON.encode(span.attributes), try SpanJSON.encode(span.events), try SpanJSON.encode(span.links),
        ]
        append { row in
            let start = Int64(clamping: span.start)
            row.number(UInt32(dayOf: start))
            row.number(span.traceID.low)
            row.number(span.traceID.high)
            row.number(span.spanID.value)
            row.number(identity)
            row.number(span.parentSpanID?.value ?? 0)
            row.number(stored)
            row.number(sender)
            row.text(resource.service)
            row.add(resource)
            row.add(span.request)
            row.number(start)
            row.number(Int64(clamping: span.durationNanoseconds))
            row.flag(span.request.map { RequestClass($0).isFailure } ?? false)
            row.text(span.url)
            row.number(span.bytesSent)
            row.number(span.bytesReceived)
            row.text(span.message)
            row.text(span.name)
            row.text(span.kind.rawValue)
            row.flag(span.isError)
            row.text(span.traceState)
            for text in json { row.text(text) }
            row.number(span.droppedAttributes)
            row.number(span.droppedEvents)
            row.number(span.droppedLinks)
        }
    }
}

extension RowReader {
    /// The columns of a span's outline.
    static let outline = Selection(
        ["trace_high", "trace_low", "span", "parent", "span_kind", "url"] + Dimension.ofRequest.columns.map(\.name))

    /// Reads what ``RequestSpans`` uses of a span; `nil` if it is not a valid span.
    mutating func spanOutline() throws -> SpanRecord? {
        guard let traceID = TraceID(high: try number("trace_high"), low: try number("trace_low")),
            let spanID = SpanID(try number("span", UInt64.self)),
            let kind = SpanRecord.Kind(rawValue: try text("span_kind"))
        else { return nil }
        var span = SpanRecord(
            traceID: traceID, spanID: spanID, parentSpanID: SpanID(try number("parent", UInt64.self)), name: "",
            kind: kind, start: 0, durationNanoseconds: 0)
        span.request = try RequestDimensions(&self)
        span.url = try text("url")
        return span
    }

    /// Reads a row with all columns of `detail`; `nil` if it is not a valid span.
    mutating func storedSpan() throws -> StoredSpan? {
        guard var span = try spanOutline() else { return nil }
        span.name = try text("name")
        (span.start, span.durationNanoseconds) = (try time("start_ns"), try time("duration"))
        span.traceState = try text("trace_state")
        span.isError = try flag("is_error")
        span.message = try text("message").presence
        (span.bytesSent, span.bytesReceived) = (try number("sent"), try number("received"))
        span.attributes = try SpanJSON.attributes(try text("attributes"))
        span.events = try SpanJSON.events(try text("events"))
        span.links = try SpanJSON.links(try text("links"))
        span.droppedAttributes = try number("dropped_attributes")
        span.droppedEvents = try number("dropped_events")
        span.droppedLinks = try number("dropped_links")
        let key = DetailID(trace: span.traceID.low, span: span.spanID.value, identity: try number("identity"))
        return StoredSpan(
            id: key.description, resource: try TelemetryResource(&self, host: "sender_host"), span: span)
    }
}

/// The id of a kept span as people see it: three numbers from the key of its row, in base 36 with the digits 0 to 9 and a to z.
/// The key makes the row quick to find, and a resent span keeps its id.
struct DetailID: CustomStringConvertible {
    /// The lower half of the trace's id.
    let trace: UInt64
    let span: UInt64
    let identity: UInt64

    init(trace: UInt64, span: UInt64, identity: UInt64) {
        (self.trace, self.span, self.identity) = (trace, span, identity)
    }

    /// Returns `nil` if the text is not such an id.
    init?(_ text: String) {
        guard text.utf8.count == 3 * Self.digits else { return nil }
        let parts = stride(from: 0, to: 3 * Self.digits, by: Self.digits).map { first in
            UInt64(String(text.dropFirst(first).prefix(Self.digits)), radix: 36)
        }
        guard let trace = parts[0], let span = parts[1], let identity = parts[2] else { return nil }
        self.init(trace: trace, span: span, identity: identity)
    }

    /// The digits that a 64-bit number needs.
    private static let digits = 13

    var description: String {
        [trace, span, identity].map { number in
            let text = String(number, radix: 36)
            return String(repeating: "0", count: Self.digits - text.count) + text
        }.joined()
    }

    /// The condition that selects the row.
    var condition: String { "trace_low = \(trace) AND span = \(span) AND identity = \(identity)" }
}
