import MartletTelemetry
import Tracing

import enum MartletTelemetry.SpanAttribute

/// The conversion of a span's content into its kept form, within the limits for a span.
struct SpanConversion {
    let redaction: Redaction
    private var room = AttributeRoom(
        count: MartletLimits.attributes, nameBytes: MartletLimits.attributeName, bytes: MartletLimits.spanBytes)

    /// - Parameter redaction: the redaction of URLs, headers and error messages.
    init(_ redaction: Redaction) {
        self.redaction = redaction
    }

    /// The number of attributes that exceeded the limits so far.
    var dropped: UInt32 { room.dropped }

    /// An estimate of the memory for the kept content, in bytes.
    var bytes: Int { 1024 + room.taken }

    /// Returns the kept attributes.
    ///
    /// - Parameter isLeftOut: returns whether the attribute of a name is left out.
    mutating func keep(
        _ attributes: SpanAttributes, except isLeftOut: (String) -> Bool = { _ in false }
    ) -> [String: SpanAttribute] {
        var all: [(name: String, value: SpanAttribute?)] = []
        all.reserveCapacity(attributes.count)
        attributes.forEach { name, value in
            if !isLeftOut(name) { all.append((name, SpanAttribute(value) { text($0, of: name) })) }
        }
        return room.take(all)
    }

    /// Returns the kept part of a text, or of a text in an array. Redaction sees the text before it is cut.
    private func text(_ text: String, of attribute: String) -> String {
        let limit = MartletLimits.attributeText
        if attribute == SpanError.messageAttribute { return redaction.message(text) }
        if attribute == SpanError.stackTraceAttribute { return redaction.text(text, limit: limit) }
        if SpanSecrets.isURL(attribute) { return redaction.url(text) }
        guard let header = SpanSecrets.header(named: attribute) else { return text.cut(toBytes: limit) }
        return redaction.header(header, text, limit: limit)
    }

    mutating func keep(_ event: Tracing.SpanEvent) -> MartletTelemetry.SpanEvent {
        MartletTelemetry.SpanEvent(
            name: event.name.cut(toBytes: MartletLimits.spanName), time: event.nanosecondsSinceEpoch,
            attributes: keep(event.attributes))
    }

    /// Returns the kept link; `nil` for a link to a context without a trace.
    mutating func keep(_ link: Tracing.SpanLink) -> MartletTelemetry.SpanLink? {
        guard let linked = link.context.traceContext else { return nil }
        return MartletTelemetry.SpanLink(
            traceID: linked.traceID, spanID: linked.spanID, attributes: keep(link.attributes))
    }
}

extension SpanAttribute {
    /// Converts an attribute; `nil` for a kind that a later version of the tracing API may add. Arrays are cut to their
    /// limit.
    ///
    /// - Parameter kept: returns the kept part of a text.
    init?(
        _ attribute: Tracing.SpanAttribute,
        _ kept: (String) -> String = { $0.cut(toBytes: MartletLimits.attributeText) }
    ) {
        switch attribute {
        case .string(let text): self = .string(kept(text))
        case .bool(let value): self = .boolean(value)
        case .int32(let number): self = .integer(Int64(number))
        case .int64(let number): self = .integer(number)
        case .double(let number): self = .double(number)
        case .stringConvertible(let value): self = .described(value, kept)
        case .stringArray(let texts): self = .cut(texts) { .string(kept($0)) }
        case .boolArray(let values): self = .cut(values) { .boolean($0) }
        case .int32Array(let numbers): self = .cut(numbers) { .integer(Int64($0)) }
        case .int64Array(let numbers): self = .cut(numbers) { .integer($0) }
        case .doubleArray(let numbers): self = .cut(numbers) { .double($0) }
        case .stringConvertibleArray(let values): self = .cut(values) { .described($0, kept) }
        default: return nil
        }
    }

    /// Returns the value's description, or an `Int` as a number, because the tracing API passes an `Int` in an array in
    /// this way.
    private static func described(
        _ value: any CustomStringConvertible & Sendable, _ kept: (String) -> String
    ) -> SpanAttribute {
        (value as? Int).map { .integer(Int64($0)) } ?? .string(kept("\(value)"))
    }

    private static func cut<Value>(_ values: [Value], _ element: (Value) -> SpanAttribute) -> SpanAttribute {
        .array(values.prefix(MartletLimits.attributeElements).map(element))
    }
}
