import MartletOTLP
import MartletTelemetry
import Synchronization

/// The attributes of points as they stand in bodies, with what they say. A sender's next batch has the same ones, to the byte,
/// and of these nothing is made anew: decoding them was most of what reading a point took. Safe to use from any task.
final class KnownAttributes: Sendable {
    /// Past it all are forgotten and decoded as they come.
    static let maxBytes = 32 * 1024 * 1024
    /// What attributes take beside their bytes and texts.
    private static let fixedBytes = 400

    /// Roughly what it takes to know attributes of so many bytes.
    static func weight(_ attributes: AttributeBytes) -> Int { fixedBytes + 2 * attributes.count }

    /// Of one point. Longer ones are decoded each time.
    static let maxBytesOfPoint = 2048

    /// Several, so that hardly anyone waits for another.
    private let shelves = (0..<16).map { _ in Shelf() }

    /// What the attributes say of a point about requests of this kind.
    ///
    /// - Throws: for what is no attributes.
    func find(_ bytes: AttributeBytes, of kind: RequestKind) throws(ProtobufReader.Unusual) -> PointAttributes {
        let hash = bytes.hash(kind == .client ? 1 : 2)
        let shelf = shelves[Int(truncatingIfNeeded: hash) & (shelves.count - 1)]
        if let known = shelf.find(hash), known.kind == kind, known.bytes == bytes { return known }
        let new = try PointAttributes(bytes, of: kind)
        if bytes.count <= Self.maxBytesOfPoint { shelf.keep(new, as: hash, maxBytes: Self.maxBytes / shelves.count) }
        return new
    }
}

/// Two that have the same hash push each other out.
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
