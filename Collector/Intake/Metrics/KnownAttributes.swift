import MartletOTLP
import MartletTelemetry
import Synchronization

/// A cache of points' attributes by their bytes. A sender's next batch has the same attributes, to the byte, and they are
/// not decoded again: decoding took most of the time of reading a point. Safe to use from any task.
final class KnownAttributes: Sendable {
    /// Bytes of memory for all attributes. A shelf whose share is full forgets its attributes, which are then decoded as
    /// they come.
    static let maxBytes = 32 * 1024 * 1024
    /// Bytes of an entry beside the bytes and the texts of its attributes.
    private static let fixedBytes = 400

    /// Returns the approximate memory of an entry, in bytes.
    static func weight(_ attributes: AttributeBytes) -> Int { fixedBytes + 2 * attributes.count }

    /// Bytes of the attributes of one point. Longer attributes are decoded each time.
    static let maxBytesOfPoint = 2048

    /// The entries by hash. With several shelves, tasks hardly ever wait for each other.
    private let shelves = (0..<16).map { _ in Shelf() }

    /// Returns the decoded attributes of a point about requests of this kind.
    ///
    /// - Throws: if the bytes are not attributes.
    func find(_ bytes: AttributeBytes, of kind: RequestKind) throws(ProtobufReader.UncommonForm) -> PointAttributes {
        let hash = bytes.hash(kind == .client ? 1 : 2)
        let shelf = shelves[Int(truncatingIfNeeded: hash) & (shelves.count - 1)]
        if let known = shelf.find(hash), known.kind == kind, known.bytes == bytes { return known }
        let new = try PointAttributes(bytes, of: kind)
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
