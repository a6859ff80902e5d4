/// Replaces what is not Unicode in the texts of a body by U+FFFD, so that one bad byte does not cost the whole body. In JSON it
/// also puts `Infinity` and `NaN` in quotes, as OTLP has them. Used only after a decoder has refused the body.
enum TextRepair {
    /// Returns the body with U+FFFD in its texts; `nil` if it is not a message or would have more than `limit` bytes.
    ///
    /// - Parameter shape: the message of a body in protobuf.
    static func repaired(_ body: [UInt8], _ format: IntakeFormat, as shape: MessageShape, limit: Int) -> [UInt8]? {
        switch format {
        case .protobuf:
            var repair = ProtobufTextRepair(body, limit: limit)
            guard (try? repair.copy(0..<body.count, as: shape, depth: 0)) != nil, repair.output.count <= limit else {
                return nil
            }
            return repair.output
        case .json:
            var text: [UInt8] = []
            text.reserveCapacity(capacity(for: body, limit: limit))
            var quotes = NumberQuotes()
            text.append(repairing: body[...], limit: limit) { quotes.append($0, to: &$1) }
            guard text.count <= limit else { return nil }
            replaceHalfSurrogates(in: &text)
            return text
        }
    }

    /// Returns whether a copy may be worth its memory: it is not if a body in protobuf does not consist of fields.
    static func mayHelp(_ body: [UInt8], _ format: IntakeFormat) -> Bool {
        guard format == .protobuf else { return true }
        var reader = ProtobufReader(body)
        do {
            while try reader.next() != nil {}
            return true
        } catch {
            return false
        }
    }

    /// Returns the most bytes that the copy of a body needs. A growing array would need more for a moment.
    ///
    /// A text of one byte takes a tag, a length and the byte, and at most three times as much in the copy.
    static func capacity(for body: [UInt8], limit: Int) -> Int { min(3 * body.count, limit) + 16 }

    /// Writes `\uFFFD` for each escape in a JSON text that is half of a surrogate pair (RFC 8259, section 8.2).
    private static func replaceHalfSurrogates(in json: inout [UInt8]) {
        var position = 0
        while let escape = json[position...].firstIndex(of: UInt8(ascii: "\\")) {
            position = min(escape + 2, json.count)
            guard let unit = unit(escapedAt: escape, of: json) else { continue }
            position = escape + 6
            guard 0xd800..<0xe000 ~= unit else { continue }
            if unit < 0xdc00, let second = self.unit(escapedAt: position, of: json), 0xdc00..<0xe000 ~= second {
                position += 6
            } else {
                json.replaceSubrange(escape + 2..<position, with: "FFFD".utf8)
            }
        }
    }

    /// Returns the UTF-16 unit that an escape like `\ud83d` represents; `nil` if there is no such escape at `start`.
    private static func unit(escapedAt start: Int, of json: [UInt8]) -> UInt16? {
        guard start + 6 <= json.count, json[start..<start + 2].elementsEqual("\\u".utf8) else { return nil }
        return UInt16(String(decoding: json[start + 2..<start + 6], as: UTF8.self), radix: 16)
    }
}

/// Copies a protobuf message, and repairs its texts in the copy.
private struct ProtobufTextRepair {
    /// The maximum depth of messages, as in SwiftProtobuf's decoder.
    private static let maxDepth = 100
    /// Bytes of each length in the copy. A length is written after its message, so its room must be known before.
    private static let lengthBytes = 5

    private let body: ProtobufReader
    private let limit: Int
    private(set) var output: [UInt8] = []

    init(_ bytes: [UInt8], limit: Int) {
        body = ProtobufReader(bytes)
        self.limit = limit
        output.reserveCapacity(TextRepair.capacity(for: bytes, limit: limit))
    }

    mutating func copy(_ range: Range<Int>, as shape: MessageShape, depth: Int) throws(ProtobufReader.UncommonForm) {
        guard depth < Self.maxDepth else { throw ProtobufReader.UncommonForm() }
        var reader = ProtobufReader(body.bytes, range)
        var start = reader.position
        while let field = try reader.next() {
            guard output.count + reader.position - start <= limit else { throw ProtobufReader.UncommonForm() }
            if case .bytes(let content) = field.value, let part = shape.part(field.number) {
                appendTag(field.number)
                let length = output.count
                output.append(contentsOf: repeatElement(0, count: Self.lengthBytes))
                switch part {
                case .text: output.append(repairing: body.bytes[content], limit: limit)
                case .message(let child): try copy(content, as: child, depth: depth + 1)
                }
                writeLength(at: length)
            } else {
                output.append(contentsOf: body.bytes[start..<reader.position])
            }
            start = reader.position
        }
    }

    /// Appends the tag of a field with a length. No field that has a text or a message has a number above 15.
    private mutating func appendTag(_ number: Int) {
        output.append(UInt8(truncatingIfNeeded: number << 3 | 2))
    }

    /// Writes the number of bytes after the length as a varint of ``lengthBytes``.
    private mutating func writeLength(at position: Int) {
        let count = output.count - position - Self.lengthBytes
        for index in 0..<Self.lengthBytes {
            let isLast = index == Self.lengthBytes - 1
            output[position + index] = UInt8(count >> (7 * index) & 0x7f) | (isLast ? 0 : 0x80)
        }
    }
}

extension [UInt8] {
    /// Appends a text with U+FFFD for what is not UTF-8. Stops once the array has more than `limit` bytes.
    ///
    /// - Parameter add: appends a byte.
    fileprivate mutating func append(
        repairing text: ArraySlice<UInt8>, limit: Int, add: (UInt8, inout [UInt8]) -> Void = { $1.append($0) }
    ) {
        _ = transcode(text.makeIterator(), from: UTF8.self, to: UTF8.self, stoppingOnError: false) { byte in
            if count <= limit { add(byte, &self) }
        }
    }
}

/// Puts quotes around `Infinity`, `-Infinity` and `NaN`. JSON has no such numbers, but some encoders write them (Python's).
private struct NumberQuotes {
    private var isInText = false
    private var isEscaped = false
    private var isInNumber = false

    /// Appends the next byte of a JSON body, after or before a quote if a number begins or ends here.
    mutating func append(_ byte: UInt8, to json: inout [UInt8]) {
        if isInText {
            isInText = isEscaped || byte != UInt8(ascii: "\"")
            isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
        } else if isInNumber {
            isInNumber = UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte || byte == UInt8(ascii: "N")
            if !isInNumber { json.append(UInt8(ascii: "\"")) }
        } else if byte == UInt8(ascii: "I") || byte == UInt8(ascii: "N") {
            isInNumber = true
            json.insert(UInt8(ascii: "\""), at: json.count - (json.last == UInt8(ascii: "-") ? 1 : 0))
        } else {
            isInText = byte == UInt8(ascii: "\"")
        }
        json.append(byte)
    }
}

extension MessageShape {
    fileprivate enum Part {
        case text
        case message(MessageShape)
    }

    /// Returns what a field of bytes holds; `nil` if it has no text.
    fileprivate func part(_ field: Int) -> Part? {
        if texts.contains(field) { return .text }
        return child(field).map { .message($0.shape) }
    }

    /// The fields that are texts (Sources/MartletOTLP/Protos).
    var texts: [Int] {
        switch self {
        case .resourceMetrics, .scopeMetrics, .resourceSpans, .scopeSpans, .link: [3]
        case .metric: [1, 2, 3]
        case .span: [3, 5]
        case .scope: [1, 2]
        case .event, .status: [2]
        case .keyValue, .anyValue: [1]
        case .metricsRequest, .tracesRequest, .gauge, .sum, .histogram, .exponentialHistogram, .summary, .numberPoint,
            .histogramPoint, .exponentialPoint, .summaryPoint, .buckets, .resource, .array, .keyValueList:
            []
        }
    }
}
