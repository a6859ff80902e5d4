import MartletOTLP

/// The memory that a JSON body takes once it is decoded, found before any message is built.
struct JSONWeight {
    /// Bytes of an object in an array: the size of the largest message that `{}` can be. Most are far smaller.
    private static let elementBytes = MemoryLayout<OTLPExponentialHistogramDataPoint>.stride
    /// Bytes of a number in an array: up to twice its size for the array's spare capacity, and once more as protobuf.
    private static let numberBytes = MemoryLayout<UInt64>.stride * 3
    /// The maximum depth of objects and arrays. A hundred nested messages, the limit of SwiftProtobuf, have less.
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
            // An object after a colon is a part of the message around it.
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
