import MartletStorage

/// The chunks that the first pass over a transaction's points has read, for the second one.
struct ReadChunks {
    /// Bytes of points that are kept at most: those of some hours. More are read twice.
    static let maxBytes = 32 << 20

    /// The chunks in the order in which they were read; `nil` if they are not kept.
    private(set) var chunks: [StoredChunk]?
    private var bytes = 0

    init(isKeeping: Bool) {
        chunks = isKeeping ? [] : nil
    }

    /// Adds a chunk. Past the limit all are given up.
    mutating func add(_ chunk: StoredChunk) {
        bytes += chunk.bytes?.count ?? 0
        if bytes <= Self.maxBytes { chunks?.append(chunk) } else { chunks = nil }
    }
}
