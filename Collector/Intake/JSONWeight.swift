import MartletOTLP

/// What a JSON body takes in memory once it is decoded, found before anything is built.
struct JSONWeight {
    /// Of an object in an array: as much as the largest message that `{}` can be. Most are far smaller.
    private static let elementBytes = MemoryLayout<OTLPExponentialHistogramDataPoint>.stride
    /// Of a number in an array, which has room for twice what is in it, and once more as protobuf.
    private static let numberBytes = MemoryLayout<UInt64>.stride * 3
    /// Objects and arrays within each other; a hundred messages, which is where SwiftProtobuf stops, need fewer.
    private static let maxDepth = 200

    private let limit: Int
    private var total: Int
    private var depth = 0
    /// The last byte that was part of no text, number or name.
    private var last = UInt8(ascii: "{")

    /// - Throws: for a body that weighs more than `limit`, or is nested so deeply that it is no OTLP.
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
            // After a colon it is a part of the message around it.
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
