import MartletOTLP
import MartletStorage
import MartletTelemetry

/// The memory that a protobuf body takes once it is decoded. It is computed from the encoded bytes before any message is built,
/// because two bytes can encode a message that takes a hundred (Protocol Buffers, "Encoding").
struct ProtobufWeight {
    /// The factor for the spare capacity of a growing array.
    private static let spare = 2
    /// Bytes of a number in a packed list, which takes at least one byte in the body.
    private static let numberBytes = MemoryLayout<UInt64>.stride * spare
    /// The maximum depth of messages, as in SwiftProtobuf's decoder.
    private static let maxDepth = 100

    private let bytes: [UInt8]
    private let limit: Int
    private var position = 0
    private var total: Int

    private init(_ bytes: [UInt8], limit: Int) {
        self.bytes = bytes
        self.limit = limit
        // A text takes no more memory than its bytes in the body.
        total = bytes.count
    }

    /// Returns the weight of the body in bytes.
    ///
    /// - Throws: if the body weighs more than `limit`, or is not a protobuf message.
    static func of(_ bytes: [UInt8], as shape: MessageShape, limit: Int) throws(IntakeRejection) -> Int {
        var weight = ProtobufWeight(bytes, limit: limit)
        try weight.add(shape, to: bytes.count, depth: 0)
        return weight.total
    }

    private mutating func add(_ shape: MessageShape, to end: Int, depth: Int) throws(IntakeRejection) {
        guard depth < Self.maxDepth else { throw .malformed("the body's messages are nested too deeply") }
        var hasChoice = false
        while position < end {
            let tag = try varint()
            switch tag & 7 {
            case 0:
                _ = try varint()
                if shape == .buckets { try add(Self.numberBytes) }
            case 1: try skip(8)
            case 2: try addField(tag >> 3, of: shape, &hasChoice, depth: depth)
            case 3, 4: break
            case 5: try skip(4)
            default: throw .notProtobuf
            }
        }
        guard position == end else { throw .notProtobuf }
    }

    private mutating func addField(
        _ number: UInt64, of shape: MessageShape, _ hasChoice: inout Bool, depth: Int
    ) throws(IntakeRejection) {
        let length = Int(clamping: try varint())
        guard length <= bytes.count - position else { throw .notProtobuf }
        guard let child = shape.child(Int(clamping: number)) else {
            if shape == .buckets { try add(length * Self.numberBytes) }
            return position += length
        }
        // At each repetition the decoder would copy the value so far. This takes time quadratic in the number of repetitions.
        guard child.role != .choice || !hasChoice else { throw .malformed("a value is given more than once") }
        hasChoice = hasChoice || child.role == .choice
        if child.role == .element { try add(child.shape.bytes * Self.spare) }
        try add(child.shape, to: position + length, depth: depth + 1)
    }

    private mutating func add(_ weight: Int) throws(IntakeRejection) {
        total += weight
        guard total <= limit else { throw .tooManyMessages(limit: limit) }
    }

    private mutating func skip(_ count: Int) throws(IntakeRejection) {
        guard count <= bytes.count - position else { throw .notProtobuf }
        position += count
    }

    @inline(__always) private mutating func varint() throws(IntakeRejection) -> UInt64 {
        guard let value = bytes.varint(at: &position, before: bytes.count) else { throw .notProtobuf }
        return value
    }
}

/// The messages that an OTLP message may hold, by field number (Sources/MartletOTLP/Protos). ``ProtobufWeight`` uses them to
/// examine a body without decoding it.
enum MessageShape {
    case metricsRequest, resourceMetrics, scopeMetrics, metric
    case gauge, sum, histogram, exponentialHistogram, summary
    case numberPoint, histogramPoint, exponentialPoint, summaryPoint, buckets
    case tracesRequest, resourceSpans, scopeSpans, span, event, link, status
    case resource, scope, keyValue, anyValue, array, keyValueList

    /// The role of a message in its parent.
    enum Role {
        /// An element of an array.
        case element
        /// A field that holds one of several messages. If the field is set twice, a decoder copies the first message before it
        /// merges the second into it.
        case choice
        /// A single part of its parent.
        case part
    }

    /// Returns the message in a field. `nil` if the field has no message, or a message without further messages.
    func child(_ field: Int) -> (shape: MessageShape, role: Role)? {
        switch self {
        case .metricsRequest: field == 1 ? (.resourceMetrics, .element) : nil
        case .resourceMetrics: field == 1 ? (.resource, .part) : field == 2 ? (.scopeMetrics, .element) : nil
        case .scopeMetrics: field == 1 ? (.scope, .part) : field == 2 ? (.metric, .element) : nil
        case .metric: data(field).map { ($0, .choice) }
        case .gauge, .sum: field == 1 ? (.numberPoint, .element) : nil
        case .histogram: field == 1 ? (.histogramPoint, .element) : nil
        case .exponentialHistogram: field == 1 ? (.exponentialPoint, .element) : nil
        case .summary: field == 1 ? (.summaryPoint, .element) : nil
        case .exponentialPoint:
            field == 1 ? (.keyValue, .element) : field == 8 || field == 9 ? (.buckets, .part) : nil
        case .tracesRequest: field == 1 ? (.resourceSpans, .element) : nil
        case .resourceSpans: field == 1 ? (.resource, .part) : field == 2 ? (.scopeSpans, .element) : nil
        case .scopeSpans: field == 1 ? (.scope, .part) : field == 2 ? (.span, .element) : nil
        case .span:
            switch field {
            case 9: (.keyValue, .element)
            case 11: (.event, .element)
            case 13: (.link, .element)
            case 15: (.status, .part)
            default: nil
            }
        case .numberPoint, .summaryPoint: field == 7 ? (.keyValue, .element) : nil
        case .histogramPoint: field == 9 ? (.keyValue, .element) : nil
        case .resource, .keyValueList: field == 1 ? (.keyValue, .element) : nil
        case .scope, .event: field == 3 ? (.keyValue, .element) : nil
        case .link: field == 4 ? (.keyValue, .element) : nil
        // The protocol does not declare this value as a choice, but it costs as much: a second value is merged into a copy of
        // the first.
        case .keyValue: field == 2 ? (.anyValue, .choice) : nil
        case .anyValue: field == 5 ? (.array, .choice) : field == 6 ? (.keyValueList, .choice) : nil
        case .array: field == 1 ? (.anyValue, .element) : nil
        case .buckets, .status: nil
        }
    }

    /// Returns the shape of a metric's data in a field.
    private func data(_ field: Int) -> MessageShape? {
        switch field {
        case 5: .gauge
        case 7: .sum
        case 9: .histogram
        case 10: .exponentialHistogram
        case 11: .summary
        default: nil
        }
    }

    /// Bytes of a message in an array, without its texts and nested messages.
    var bytes: Int {
        switch self {
        case .resourceMetrics: MemoryLayout<OTLPResourceMetrics>.stride
        case .scopeMetrics: MemoryLayout<OTLPScopeMetrics>.stride
        case .metric: max(MemoryLayout<OTLPMetric>.stride, MemoryLayout<EncodedMetric>.stride)
        case .numberPoint: MemoryLayout<OTLPNumberDataPoint>.stride
        // A point is read directly from the body. If it is written in an unusual way, it is decoded first.
        case .histogramPoint: max(MemoryLayout<OTLPHistogramDataPoint>.stride, MemoryLayout<RequestPoint>.stride)
        case .exponentialPoint:
            max(MemoryLayout<OTLPExponentialHistogramDataPoint>.stride, MemoryLayout<RequestPoint>.stride)
        case .summaryPoint: MemoryLayout<OTLPSummaryDataPoint>.stride
        case .resourceSpans: MemoryLayout<OTLPResourceSpans>.stride
        case .scopeSpans: MemoryLayout<OTLPScopeSpans>.stride
        // Only a span keeps its fields in a separate object.
        case .span: MemoryLayout<OTLPSpan>.stride + 256
        case .event: MemoryLayout<OTLPSpan.Event>.stride
        case .link: MemoryLayout<OTLPSpan.Link>.stride
        case .keyValue: MemoryLayout<OTLPKeyValue>.stride
        case .anyValue: MemoryLayout<OTLPAnyValue>.stride
        case .metricsRequest, .tracesRequest, .gauge, .sum, .histogram, .exponentialHistogram, .summary, .buckets,
            .status, .resource, .scope, .array, .keyValueList:
            0
        }
    }
}

/// The memory that a JSON body takes once it is decoded, computed before any message is built.
struct JSONWeight {
    /// Bytes of an object in an array: the size of the largest message that `{}` can be. Most are far smaller.
    private static let elementBytes = MemoryLayout<OTLPExponentialHistogramDataPoint>.stride
    /// Bytes of a number in an array: up to twice its size for the array's spare capacity, and its size again as protobuf.
    private static let numberBytes = MemoryLayout<UInt64>.stride * 3
    /// The maximum depth of objects and arrays. A hundred nested messages, SwiftProtobuf's limit, are less deep.
    private static let maxDepth = 200

    private let limit: Int
    private var total: Int
    private var depth = 0
    /// The last brace, bracket, comma or colon outside of texts.
    private var last = UInt8(ascii: "{")

    /// Returns the weight of the body in bytes.
    ///
    /// - Throws: if the body weighs more than `limit`, or is nested too deeply for OTLP.
    static func of(_ bytes: [UInt8], limit: Int) throws(IntakeRejection) -> Int {
        var weight = JSONWeight(byteCount: bytes.count, limit: limit)
        var isText = false
        var isEscaped = false
        for byte in bytes {
            if isText {
                isText = isEscaped || byte != UInt8(ascii: "\"")
                isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
            } else if byte == UInt8(ascii: "\"") {
                isText = true
            } else {
                try weight.add(byte)
            }
        }
        return weight.total
    }

    private init(byteCount: Int, limit: Int) {
        self.limit = limit
        total = byteCount
    }

    private mutating func add(_ byte: UInt8) throws(IntakeRejection) {
        switch byte {
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            depth += 1
            // An object after a colon is a part of its parent.
            if byte == UInt8(ascii: "{"), last != UInt8(ascii: ":") { total += Self.elementBytes }
        case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
        case UInt8(ascii: ","): total += Self.numberBytes
        case UInt8(ascii: ":"): break
        default: return
        }
        last = byte
        guard depth <= Self.maxDepth else { throw .malformed("the body is nested too deeply") }
        guard total <= limit else { throw .tooManyMessages(limit: limit) }
    }
}
