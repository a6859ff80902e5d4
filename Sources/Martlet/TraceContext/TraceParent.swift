import MartletTelemetry

/// The header `traceparent` (W3C Trace Context, section 3.2).
struct TraceParent: Sendable, Equatable {
    static let headerName = "traceparent"

    var traceID: TraceID
    /// The span of the caller.
    var spanID: SpanID
    var isSampled: Bool

    /// Parses a header; `nil` for a header that the specification says to ignore.
    ///
    /// A later version is read as far as version 00 goes (section 4.3, "Versioning of traceparent").
    init?(_ header: String) {
        let fields = header.utf8.trimmingBlanks.split(
            separator: UInt8(ascii: "-"), maxSplits: 4, omittingEmptySubsequences: false)
        guard fields.count >= 4, fields[0].count == 2, let version = UInt64(hexDigits: fields[0]), version != 0xff,
            version != 0 || fields.count == 4,
            let traceID = TraceID(hexDigits: fields[1]), let spanID = SpanID(hexDigits: fields[2]),
            fields[3].count == 2, let flags = UInt64(hexDigits: fields[3])
        else { return nil }
        self.init(traceID: traceID, spanID: spanID, isSampled: flags & 1 == 1)
    }

    init(_ context: TraceContext) {
        self.init(traceID: context.traceID, spanID: context.spanID, isSampled: context.isSampled)
    }

    private init(traceID: TraceID, spanID: SpanID, isSampled: Bool) {
        self.traceID = traceID
        self.spanID = spanID
        self.isSampled = isSampled
    }

    /// The header's value in version 00. All flags but `sampled` are zero, as the specification requires of undefined
    /// flags.
    var text: String { "00-\(traceID)-\(spanID)-\(isSampled ? "01" : "00")" }
}

extension BidirectionalCollection<UInt8> {
    /// The bytes without blanks and tabs at both ends, which do not belong to a header's value (RFC 9110, section 5.5).
    var trimmingBlanks: SubSequence {
        let isBlank: (UInt8) -> Bool = { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        guard let last = lastIndex(where: { !isBlank($0) }) else { return self[endIndex...] }
        return self[...last].drop(while: isBlank)
    }
}
