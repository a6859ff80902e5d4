/// Replaces the names of enums in a JSON body by their numbers. OTLP writes an enum as a number, but some senders write its name,
/// a short form of the name, or the number as a text. SwiftProtobuf reads only the whole name, and ignores any other text.
enum JSONEnums {
    /// The number in the place of a name that is none of the enum's. What has it is refused.
    static let unknown = -1

    /// Returns the body, which has as many bytes as before.
    static func numbered(_ json: consuming [UInt8], as shape: MessageShape) -> [UInt8] {
        for field in shape == .tracesRequest ? spanFields : metricFields {
            var position = 0
            while let end = field.end(in: json, from: position) {
                position = end
                guard let text = text(after: end, of: json) else { continue }
                let number = Array(String(field.number(json[text.lowerBound + 1..<text.upperBound - 1])).utf8)
                json.replaceSubrange(
                    text, with: number + repeatElement(UInt8(ascii: " "), count: text.count - number.count))
                position = text.upperBound
            }
        }
        return json
    }

    private static let spanFields = [
        JSONEnumField("kind", ["UNSPECIFIED", "INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER"], "SPAN_KIND_"),
        JSONEnumField("code", ["UNSET", "OK", "ERROR"], "STATUS_CODE_"),
    ]
    private static let metricFields = ["aggregationTemporality", "aggregation_temporality"].map {
        JSONEnumField($0, ["UNSPECIFIED", "DELTA", "CUMULATIVE"], "AGGREGATION_TEMPORALITY_")
    }

    /// Returns the range of the text, quotes included, that is the value of the key that ends at `end`. `nil` if its value is not a
    /// text, or if the key is the value of another key.
    private static func text(after end: Int, of json: [UInt8]) -> Range<Int>? {
        guard let colon = json.indexAfterSpaces(from: end), json[colon] == UInt8(ascii: ":"),
            let start = json.indexAfterSpaces(from: colon + 1), json[start] == UInt8(ascii: "\""),
            let last = json[(start + 1)...].firstIndex(of: UInt8(ascii: "\""))
        else { return nil }
        return start..<last + 1
    }
}

/// A member of JSON objects whose value is an enum.
private struct JSONEnumField {
    /// The key in quotes. It is only found as a key: within a text, a quote follows a backslash.
    private let key: [UInt8]
    private let names: [String]
    private let prefix: String
    /// The number of bytes by which a search may move on when it looks at a byte: 0 for the key's last one (Horspool's algorithm).
    private let steps: [Int]

    init(_ key: String, _ names: [String], _ prefix: String) {
        self.key = Array("\"\(key)\"".utf8)
        (self.names, self.prefix) = (names, prefix)
        var steps = Array(repeating: self.key.count, count: 256)
        for (index, byte) in self.key.enumerated() { steps[Int(byte)] = self.key.count - 1 - index }
        self.steps = steps
    }

    /// Returns the position after the key's next occurrence.
    func end(in json: [UInt8], from start: Int) -> Int? {
        json.withUnsafeBufferPointer { json in
            steps.withUnsafeBufferPointer { steps in
                var last = start + key.count - 1
                while last < json.count {
                    let step = steps[Int(json[last])]
                    if step == 0, json[(last + 1 - key.count)...last].elementsEqual(key) { return last + 1 }
                    last += max(step, 1)
                }
                return nil
            }
        }
    }

    /// Returns the number of a name, or the number that the text is.
    func number(_ text: ArraySlice<UInt8>) -> Int {
        let text = String(decoding: text, as: UTF8.self).uppercased()
        if let number = Int32(text) { return Int(number) }
        return names.firstIndex(of: text.hasPrefix(prefix) ? String(text.dropFirst(prefix.count)) : text)
            ?? JSONEnums.unknown
    }
}

extension [UInt8] {
    /// Returns the index of the next byte that is not white space in JSON; `nil` at the end.
    fileprivate func indexAfterSpaces(from start: Int) -> Int? {
        self[Swift.min(start, count)...].firstIndex { ![0x20, 0x09, 0x0a, 0x0d].contains($0) }
    }
}
