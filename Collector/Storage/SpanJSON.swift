import Foundation
import MartletTelemetry

/// The attributes, events and links of a span as JSON; `''` for none.
package enum SpanJSON {
    package static func encode(_ attributes: [String: SpanAttribute]) throws -> String {
        attributes.isEmpty ? "" : try text(attributes.mapValues(Value.init))
    }

    package static func encode(_ events: [SpanEvent]) throws -> String {
        events.isEmpty ? "" : try text(events.map(Event.init))
    }

    package static func encode(_ links: [SpanLink]) throws -> String {
        links.isEmpty ? "" : try text(links.map(Link.init))
    }

    package static func attributes(_ json: String) throws -> [String: SpanAttribute] {
        json.isEmpty ? [:] : try value([String: Value].self, json).mapValues(\.attribute)
    }

    package static func events(_ json: String) throws -> [SpanEvent] {
        json.isEmpty ? [] : try value([Event].self, json).map(\.event)
    }

    package static func links(_ json: String) throws -> [SpanLink] {
        json.isEmpty ? [] : try value([Link].self, json).compactMap(\.spanLink)
    }

    /// Returns a text as it appears inside a JSON string, without the quotes, so that it can be found in stored JSON.
    package static func inQuotes(_ text: String) -> String {
        guard let json = try? Self.text(text) else { return text }
        return String(json.dropFirst().dropLast())
    }

    private static let notNumbers = (infinity: "inf", negative: "-inf", nan: "nan")

    private static func text(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: notNumbers.infinity, negativeInfinity: notNumbers.negative, nan: notNumbers.nan)
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    private static func value<Value: Decodable>(_ type: Value.Type, _ json: String) throws -> Value {
        let decoder = JSONDecoder()
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: notNumbers.infinity, negativeInfinity: notNumbers.negative, nan: notNumbers.nan)
        return try decoder.decode(type, from: Data(json.utf8))
    }
}

/// An attribute's value. Texts, integers, booleans and arrays are plain JSON. A double is `{"double": 2}`, because JSON does not
/// distinguish 2.0 from 2.
private struct Value: Codable {
    let attribute: SpanAttribute

    private struct Number: Codable {
        let double: Double
    }

    init(_ attribute: SpanAttribute) {
        self.attribute = attribute
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let text = try? container.decode(String.self) {
            attribute = .string(text)
        } else if let value = try? container.decode(Bool.self) {
            attribute = .boolean(value)
        } else if let number = try? container.decode(Int64.self) {
            attribute = .integer(number)
        } else if let number = try? container.decode(Number.self) {
            attribute = .double(number.double)
        } else {
            attribute = .array(try container.decode([Value].self).map(\.attribute))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch attribute {
        case .string(let text): try container.encode(text)
        case .integer(let number): try container.encode(number)
        case .double(let number): try container.encode(Number(double: number))
        case .boolean(let value): try container.encode(value)
        case .array(let elements): try container.encode(elements.map(Value.init))
        }
    }
}

private struct Event: Codable {
    let name: String
    let time: UnixNanoseconds
    let attributes: [String: Value]

    init(_ event: SpanEvent) {
        name = event.name
        time = event.time
        attributes = event.attributes.mapValues(Value.init)
    }

    var event: SpanEvent { SpanEvent(name: name, time: time, attributes: attributes.mapValues(\.attribute)) }
}

private struct Link: Codable {
    let trace: String
    let span: String
    let attributes: [String: Value]

    init(_ spanLink: SpanLink) {
        trace = spanLink.traceID.description
        span = spanLink.spanID.description
        attributes = spanLink.attributes.mapValues(Value.init)
    }

    var spanLink: SpanLink? {
        guard let traceID = TraceID(hexDigits: trace.utf8), let spanID = SpanID(hexDigits: span.utf8) else {
            return nil
        }
        return SpanLink(traceID: traceID, spanID: spanID, attributes: attributes.mapValues(\.attribute))
    }
}
