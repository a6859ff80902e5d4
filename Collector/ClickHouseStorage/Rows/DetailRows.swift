import MartletStorage
import MartletTelemetry

/// Kept spans as rows of `detail`.
extension TableRows {
    /// - Parameters:
    ///   - identity: see ``RowIdentity/span(_:of:in:)``.
    ///   - stored: grows from span to span, so that spans are listed in order of arrival.
    mutating func append(
        _ span: SpanRecord, of resource: TelemetryResource, sender: UInt64, identity: UInt64, stored: Int64
    ) throws {
        let json = [
            try SpanJSON.encode(span.attributes), try SpanJSON.encode(span.events), try SpanJSON.encode(span.links),
        ]
        append { row in
            let start = Int64(clamping: span.start)
            row.number(StoredDay.of(start))
            row.number(span.traceID.low)
            row.number(span.traceID.high)
            row.number(span.spanID.value)
            row.number(identity)
            row.number(span.parentSpanID?.value ?? 0)
            row.number(stored)
            row.number(sender)
            for text in [
                resource.service, resource.version, resource.environment, resource.instance, resource.host,
                resource.captureMode, resource.captureReason, resource.agent, resource.runtime,
            ] { row.text(text) }
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
    /// Reads a row with all columns of `detail`; `nil` if it is not a valid span.
    mutating func storedSpan() throws -> StoredSpan? {
        _ = try number(UInt32.self)
        let (low, high, id) = (try number(UInt64.self), try number(UInt64.self), try number(UInt64.self))
        let (identity, parent) = (try number(UInt64.self), try number(UInt64.self))
        _ = (try number(Int64.self), try number(UInt64.self))
        let resource = TelemetryResource(texts: try (0..<9).map { _ in try text() })
        let request = try dimensions()
        let (start, duration) = (try number(Int64.self), try number(Int64.self))
        _ = try flag()
        let url = try text()
        let (sent, received) = (try number(UInt64.self), try number(UInt64.self))
        let (message, name, kind) = (try text(), try text(), SpanRecord.Kind(rawValue: try text()))
        let (isError, state) = (try flag(), try text())
        let json = try (0..<3).map { _ in try text() }
        let dropped = try (0..<3).map { _ in try number(UInt32.self) }
        guard let traceID = TraceID(high: high, low: low), let spanID = SpanID(id), let kind else { return nil }
        var span = SpanRecord(
            traceID: traceID, spanID: spanID, parentSpanID: SpanID(parent), name: name, kind: kind,
            start: UInt64(clamping: start), durationNanoseconds: UInt64(clamping: duration))
        span.traceState = state
        span.isError = isError
        span.message = message.isEmpty ? nil : message
        span.request = request
        span.url = url
        (span.bytesSent, span.bytesReceived) = (sent, received)
        span.attributes = try SpanJSON.attributes(json[0])
        span.events = try SpanJSON.events(json[1])
        span.links = try SpanJSON.links(json[2])
        (span.droppedAttributes, span.droppedEvents, span.droppedLinks) = (dropped[0], dropped[1], dropped[2])
        return StoredSpan(
            id: DetailID(trace: low, span: id, identity: identity).description, resource: resource, span: span)
    }

    /// Reads the columns of the dimensions; `nil` if they do not belong to a request.
    mutating func dimensions() throws -> RequestDimensions? {
        let (kind, isOfSpans) = (RequestKind(rawValue: try text()), try flag())
        let (method, host, port) = (try text(), try text(), Int(try number(Int64.self)))
        let (endpoint, status, error) = (try text(), Int(try number(Int64.self)), try text())
        let rule = try text()
        guard let kind else { return nil }
        var dimensions = RequestDimensions(
            kind: kind, method: method, host: host, port: port, endpoint: endpoint, status: status == 0 ? nil : status,
            error: error.presence)
        dimensions.rule = rule.presence
        dimensions.source = isOfSpans ? .spans : .metrics
        return dimensions
    }
}

extension TelemetryResource {
    /// Creates the sender from the texts of nine columns, from the service to the runtime.
    init(texts: [String]) {
        self.init(
            service: texts[0], version: texts[1].presence, environment: texts[2].presence, instance: texts[3],
            host: texts[4].presence, captureMode: texts[5].presence, captureReason: texts[6].presence,
            agent: texts[7].presence, runtime: texts[8].presence)
    }
}

extension String {
    /// `nil` for the empty text, which represents an absent value.
    var presence: String? { isEmpty ? nil : self }
}

/// The id of a kept span as people see it: the key of its row, as three numbers in base 36 with the digits 0 to 9 and a to z. The
/// key makes a row quick to find, and a resent span always has the same id.
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

    /// Digits of a 64-bit number.
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
