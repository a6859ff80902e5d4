import MartletStorage

/// The chunks that the first pass over a transaction's points has read, for the second one, which looks up no series and finds each
/// point by its place.
struct ReadChunks {
    /// Bytes that are kept at most: those of some hours. More are read twice.
    static let maxBytes = 32 << 20

    /// A point that counts for one of the sums.
    struct Point {
        /// The place of its series' targets in ``SeriesTargets``.
        let found: Int
        /// Its place in the chunk's bytes.
        let entry: Range<Int>
    }

    struct Chunk {
        let stored: StoredChunk
        /// The class of its senders, by which targets are found.
        let senders: Int
        var points: [Point] = []
        /// Points that could not be found.
        var missing = 0
    }

    /// The chunks in the order in which they were read; `nil` if they are not kept.
    private(set) var chunks: [Chunk]?
    private var bytes = 0

    init(isKeeping: Bool) {
        chunks = isKeeping ? [] : nil
    }

    /// Adds a chunk, unless nothing of it counts. Past the limit all are given up.
    mutating func add(_ chunk: Chunk) {
        guard !chunk.points.isEmpty || chunk.missing > 0 || chunk.stored.damaged > 0 else { return }
        bytes += (chunk.stored.bytes?.count ?? 0) + chunk.points.count * MemoryLayout<Point>.stride
        if bytes <= Self.maxBytes { chunks?.append(chunk) } else { chunks = nil }
    }
}
