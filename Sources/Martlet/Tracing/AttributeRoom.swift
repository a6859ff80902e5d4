import MartletTelemetry
import Tracing

import enum MartletTelemetry.SpanAttribute

/// What is left of the bytes that the attributes of one span, its events and its links may have together.
struct AttributeRoom {
    private var bytes = MartletLimits.spanBytes

    /// The attributes that find room, without secrets, and how many do not.
    mutating func take(
        _ attributes: SpanAttributes, except isLeftOut: (String) -> Bool = { _ in false }
    ) -> (kept: [String: SpanAttribute], dropped: UInt32) {
        var kept: [String: SpanAttribute] = [:]
        var dropped: UInt32 = 0
        attributes.forEach { name, value in
            guard !isLeftOut(name), !SpanSecrets.hides(name), let value = SpanAttribute(value) else { return }
            if kept.count < MartletLimits.attributes, take(name, value) { kept[name] = value } else { dropped &+= 1 }
        }
        return (kept, dropped)
    }

    mutating func take(_ event: Tracing.SpanEvent) -> MartletTelemetry.SpanEvent {
        MartletTelemetry.SpanEvent(
            name: event.name.cut(toBytes: MartletLimits.spanName), time: event.nanosecondsSinceEpoch,
            attributes: take(event.attributes).kept)
    }

    /// `nil` for a link to what has no trace.
    mutating func take(_ link: Tracing.SpanLink) -> MartletTelemetry.SpanLink? {
        guard let linked = link.context.traceContext else { return nil }
        return MartletTelemetry.SpanLink(
            traceID: linked.traceID, spanID: linked.spanID, attributes: take(link.attributes).kept)
    }

    private mutating func take(_ name: String, _ value: SpanAttribute) -> Bool {
        let size = name.utf8.count + value.size
        guard name.utf8.count <= MartletLimits.attributeName, size <= bytes else { return false }
        bytes -= size
        return true
    }
}

extension SpanAttribute {
    /// Texts and arrays cut to their limits; `nil` for what a later version of the tracing API may add.
    init?(_ attribute: Tracing.SpanAttribute) {
        switch attribute {
        case .string(let text): self = .cut(text)
        case .bool(let value): self = .boolean(value)
        case .int32(let number): self = .integer(Int64(number))
        case .int64(let number): self = .integer(number)
        case .double(let number): self = .double(number)
        case .stringConvertible(let value): self = .cut("\(value)")
        case .stringArray(let texts): self = .cut(texts) { .cut($0) }
        case .boolArray(let values): self = .cut(values) { .boolean($0) }
        case .int32Array(let numbers): self = .cut(numbers) { .integer(Int64($0)) }
        case .int64Array(let numbers): self = .cut(numbers) { .integer($0) }
        case .doubleArray(let numbers): self = .cut(numbers) { .double($0) }
        case .stringConvertibleArray(let values): self = .cut(values) { .cut("\($0)") }
        default: return nil
        }
    }

    private static func cut(_ text: String) -> SpanAttribute {
        .string(text.cut(toBytes: MartletLimits.attributeText))
    }

    private static func cut<Value>(_ values: [Value], _ element: (Value) -> SpanAttribute) -> SpanAttribute {
        .array(values.prefix(MartletLimits.attributeElements).map(element))
    }

    /// Bytes, about.
    fileprivate var size: Int {
        switch self {
        case .string(let text): text.utf8.count
        case .integer, .double, .boolean: 8
        case .array(let elements): elements.reduce(8) { $0 + $1.size }
        }
    }
}
