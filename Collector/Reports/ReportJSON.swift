import Foundation

/// JSON with sorted keys, so that the same value gives the same bytes.
package enum ReportJSON {
    package static func text(of value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self) + "\n"
    }

    package static func value<Value: Decodable>(of type: Value.Type, in bytes: Data) throws -> Value {
        try JSONDecoder().decode(type, from: bytes)
    }
}
