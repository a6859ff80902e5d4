import MartletTelemetry
import Tracing

import enum MartletTelemetry.SpanAttribute

/// Turns what a span was told into what is kept of it, within the limits on how much that may be.
struct SpanRoom {
    let redaction: Redaction
    private var room = AttributeRoom(
        count: MartletLimits.attributes, nameBytes: MartletLimits.attributeName, bytes: MartletLimits.spanBytes)

    /// - Parameter redaction: takes secrets out of headers and of what errors say.
    init(_ redaction: Redaction) {
        self.redaction = redaction
    }

    /// Attributes that found no room until now.
    var dropped: UInt32 { room.dropped }

    /// What all of it holds, roughly.
    var bytes: Int { 1024 + room.taken }

    /// - Parameter isLeftOut: names of attributes that are not wanted here.
    mutating func take(
        _ attributes: SpanAttributes, except isLeftOut: (String) -> Bool = { _ in false }
    ) -> [String: SpanAttribute] {
        var all: [(name: String, value: SpanAttribute?)] = []
        all.reserveCapacity(attributes.count)
        attributes.forEach { name, value in
            if !isLeftOut(name) { all.append((name, SpanAttribute(value).map { redacted($0, named: name) })) }
        }
        return room.take(all)
    }

    private func redacted(_ value: SpanAttribute, named name: String) -> SpanAttribute {
        if name == SpanError.messageAttribute { return value.mapText(redaction.message) }
        guard let header = SpanSecrets.header(named: name) else { return value }
        return value.mapText { redaction.headers([(header, $0)]).first?.value ?? Redaction.placeholder }
    }

    mutating func take(_ event: Tracing.SpanEvent) -> MartletTelemetry.SpanEvent {
        MartletTelemetry.SpanEvent(
            name: event.name.cut(toBytes: MartletLimits.spanName), time: event.nanosecondsSinceEpoch,
            attributes: take(event.attributes))
    }

    /// `nil` for a link to what has no trace.
    mutating func take(_ link: Tracing.SpanLink) -> MartletTelemetry.SpanLink? {
        guard let linked = link.context.traceContext else { return nil }
        return MartletTelemetry.SpanLink(
            traceID: linked.traceID, spanID: linked.spanID, attributes: take(link.attributes))
    }
}

extension SpanAttribute {
    /// Texts and arrays are cut to their limits; `nil` for what a later version of the tracing API may add.
    init?(_ attribute: Tracing.SpanAttribute) {
        switch attribute {
        case .string(let text): self = .cut(text)
        case .bool(let value): self = .boolean(value)
        case .int32(let number): self = .integer(Int64(number))
        case .int64(let number): self = .integer(number)
        case .double(let number): self = .double(number)
        case .stringConvertible(let value): self = .described(value)
        case .stringArray(let texts): self = .cut(texts) { .cut($0) }
        case .boolArray(let values): self = .cut(values) { .boolean($0) }
        case .int32Array(let numbers): self = .cut(numbers) { .integer(Int64($0)) }
        case .int64Array(let numbers): self = .cut(numbers) { .integer($0) }
        case .doubleArray(let numbers): self = .cut(numbers) { .double($0) }
        case .stringConvertibleArray(let values): self = .cut(values) { .described($0) }
        default: return nil
        }
    }

    private static func cut(_ text: String) -> SpanAttribute {
        .string(text.cut(toBytes: MartletLimits.attributeText))
    }

    /// The tracing API takes an `Int` in an array for something that it can only describe.
    private static func described(_ value: any CustomStringConvertible & Sendable) -> SpanAttribute {
        (value as? Int).map { .integer(Int64($0)) } ?? .cut("\(value)")
    }

    private static func cut<Value>(_ values: [Value], _ element: (Value) -> SpanAttribute) -> SpanAttribute {
        .array(values.prefix(MartletLimits.attributeElements).map(element))
    }
}
