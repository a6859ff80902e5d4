import Foundation

/// JSON with sorted keys, so that the same value gives the same bytes.
package enum ReportJSON {
    package static func text(of value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return visible(String(decoding: try encoder.encode(value), as: UTF8.self)) + "\n"
    }

    /// Escapes characters that would control a terminal. They occur only in strings, so the JSON value is the same.
    private static func visible(_ json: String) -> String {
        if json.utf8.allSatisfy({ (0x20..<0x7f).contains($0) || $0 == UInt8(ascii: "\n") }) { return json }
        return json.unicodeScalars.reduce(into: "") { text, scalar in
            if scalar == "\n" || TerminalText.isPlain(scalar) {
                text.unicodeScalars.append(scalar)
            } else {
                for unit in String(scalar).utf16 { text += "\\u" + String(0x10000 + Int(unit), radix: 16).dropFirst() }
            }
        }
    }

    package static func value<Value: Decodable>(of type: Value.Type, in bytes: Data) throws -> Value {
        try JSONDecoder().decode(type, from: bytes)
    }
}

/// A figure whose key is always present in JSON, with `null` if it is unknown.
@propertyWrapper
package struct NullIfUnknown: Sendable, Equatable, Codable {
    package var wrappedValue: Double?

    package init(wrappedValue: Double?) {
        self.wrappedValue = wrappedValue
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        wrappedValue = container.decodeNil() ? nil : try container.decode(Double.self)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(wrappedValue)
    }
}
