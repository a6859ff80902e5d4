import MartletOTLP
import MartletStorage
import MartletTelemetry
import Synchronization

/// A cache of points' attributes by their bytes. A sender's next batch repeats the same attributes byte for byte, so they need
/// not be decoded again. Without the cache, decoding took most of the time of reading a point. Safe to use from any task.
final class KnownAttributes: Sendable {
    /// Maximum bytes of memory for all attributes. A shelf that has used up its share forgets its attributes. They are decoded
    /// again when they next arrive.
    static let maxBytes = 32 * 1024 * 1024
    /// Bytes of an entry, in addition to the bytes and the texts of its attributes.
    private static let fixedBytes = 400

    /// Returns the approximate memory of an entry, in bytes.
    static func weight(_ attributes: AttributeBytes) -> Int { fixedBytes + 2 * attributes.count }

    /// Maximum bytes of one point's attributes in the cache. Longer attributes are decoded each time.
    static let maxBytesOfPoint = 2048

    /// The entries by hash. With several shelves, tasks rarely wait for each other.
    private let shelves = (0..<16).map { _ in Shelf() }

    /// Returns the decoded attributes of a point about these requests.
    ///
    /// - Throws: if the bytes are not attributes.
    func find(
        _ bytes: AttributeBytes, of requests: MeasuredRequests
    ) throws(ProtobufReader.UncommonForm) -> PointAttributes {
        let hash = bytes.hash(UInt64(requests.conventions.rawValue) << 1 | (requests.kind == .client ? 1 : 0))
        let shelf = shelves[Int(truncatingIfNeeded: hash) & (shelves.count - 1)]
        if let known = shelf.find(hash), known.requests == requests, known.bytes == bytes { return known }
        let new = try PointAttributes(bytes, of: requests)
        if bytes.count <= Self.maxBytesOfPoint { shelf.keep(new, as: hash, maxBytes: Self.maxBytes / shelves.count) }
        return new
    }
}

/// A part of the cache. Entries with the same hash replace each other.
private final class Shelf: Sendable {
    private struct State {
        var known: [UInt64: PointAttributes] = [:]
        var weight = 0
    }

    private let state = Mutex(State())

    func find(_ hash: UInt64) -> PointAttributes? {
        state.withLock { $0.known[hash] }
    }

    func keep(_ attributes: PointAttributes, as hash: UInt64, maxBytes: Int) {
        state.withLock { state in
            let weight = KnownAttributes.weight(attributes.bytes)
            if state.weight + weight > maxBytes { state = State() }
            let old = state.known.updateValue(attributes, forKey: hash)
            state.weight += weight - (old.map { KnownAttributes.weight($0.bytes) } ?? 0)
        }
    }
}

/// The decoded attributes of a point of any metric.
final class PointAttributes: Sendable {
    /// The requests and the bytes from which the attributes were decoded.
    let requests: MeasuredRequests
    let bytes: AttributeBytes

    let series: SharedDimensions
    /// See ``RequestDimensions/longestText``.
    let longestText: Int
    /// The phase in `martlet.phase`; `nil` if it names none.
    let phase: RequestPhase?
    /// A hash of all attributes in any order, the same in every process.
    let identity: UInt64

    init(_ bytes: AttributeBytes, of requests: MeasuredRequests) throws(ProtobufReader.UncommonForm) {
        let attributes = try bytes.decoded()
        let dimensions = RequestDimensions(requests, attributes)
        self.requests = requests
        self.bytes = bytes.compact
        series = SharedDimensions(dimensions)
        longestText = dimensions.longestText
        phase = attributes.text(AttributeName.phase).flatMap(RequestPhase.init)
        identity = StreamID(hashing: []).adding(attributes).word
    }

    /// The attributes of the point, decoded at each call. Only a cumulative point needs them, because its series does not
    /// identify its stream.
    var decoded: [OTLPKeyValue] { (try? bytes.decoded()) ?? [] }
}

/// The attributes of a point as bytes of a body: `KeyValue` messages, each after its length in four bytes. The field number is
/// left out, because it differs between kinds of points. The type can also hold any other message, but only for comparison.
struct AttributeBytes: Equatable {
    private var bytes: [UInt8] = []

    var count: Int { bytes.count }

    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
    }

    /// Adds the attribute at `range` of the body.
    mutating func append(_ range: Range<Int>, of body: [UInt8]) {
        withUnsafeBytes(of: UInt32(truncatingIfNeeded: range.count).littleEndian) { bytes.append(contentsOf: $0) }
        bytes.append(contentsOf: body[range])
    }

    /// A copy that takes no more memory than its bytes.
    var compact: AttributeBytes {
        var copy = AttributeBytes()
        copy.bytes.reserveCapacity(count)
        copy.bytes.append(contentsOf: bytes)
        return copy
    }

    /// Compares eight bytes at a time, because `==` of arrays compares byte by byte.
    static func == (one: AttributeBytes, other: AttributeBytes) -> Bool {
        guard one.count == other.count else { return false }
        return one.bytes.withUnsafeBytes { one in
            other.bytes.withUnsafeBytes { other in
                let words = one.count / 8 * 8
                var difference: UInt64 = 0
                for offset in stride(from: 0, to: words, by: 8) {
                    difference |=
                        one.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                        ^ other.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                }
                return difference == 0 && one[words...].elementsEqual(other[words...])
            }
        }
    }

    /// Returns a hash that differs from process to process.
    func hash(_ salt: UInt64) -> UInt64 {
        var state = Self.seed &+ salt &+ UInt64(bytes.count)
        bytes.withUnsafeBytes { bytes in
            let words = bytes.count / 8 * 8
            for offset in stride(from: 0, to: words, by: 8) {
                state = Self.mixed(state, bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            }
            for byte in bytes[words...] { state = Self.mixed(state, UInt64(byte)) }
        }
        return state
    }

    /// Returns the attributes.
    ///
    /// - Throws: if the bytes are not attributes.
    func decoded() throws(ProtobufReader.UncommonForm) -> [OTLPKeyValue] {
        let reader = ProtobufReader(bytes)
        var attributes: [OTLPKeyValue] = []
        var start = 0
        while start < bytes.count {
            let length = bytes[start..<start + 4].reversed().reduce(0) { $0 << 8 | Int($1) }
            attributes.append(try reader.message(in: start + 4..<start + 4 + length, depth: .attribute))
            start += 4 + length
        }
        return attributes
    }

    private static let seed = UInt64.random(in: 0 ... .max)

    private static func mixed(_ state: UInt64, _ word: UInt64) -> UInt64 {
        let product = (state ^ word) &* 0xbf58_476d_1ce4_e5b9
        return product ^ (product >> 32)
    }
}
