import CMartletHooks

/// A segment as the threads that write to it see it: lanes, of which each thread takes the one of the processor that it runs
/// on. So two threads that record at the same moment do not take cache lines from each other. A thread that finds its lane
/// full takes the next one.
struct JournalSegment: ~Copyable {
    /// The number of lanes, a power of two.
    static let lanes = 4

    /// The distance of one lane from the next, in bytes: processors fetch cache lines of 64 bytes in pairs.
    private static let stride = 128
    private let memory: UnsafeMutableRawPointer

    /// - Parameter capacity: bytes of records.
    init(capacity: Int) {
        let laneBytes = capacity / Self.lanes / JournalFormat.granule * JournalFormat.granule
        memory = .allocate(byteCount: Self.lanes * Self.stride, alignment: Self.stride)
        for index in 0..<Self.lanes {
            let lane = JournalLane(from: index * laneBytes, capacity: laneBytes)
            (memory + index * Self.stride).initializeMemory(as: JournalLane.self, to: lane)
        }
    }

    deinit {
        for index in 0..<Self.lanes { lane(index).deinitialize(count: 1) }
        memory.deallocate()
    }

    @inline(__always)
    private func lane(_ index: Int) -> UnsafeMutablePointer<JournalLane> {
        (memory + index * Self.stride).assumingMemoryBound(to: JournalLane.self)
    }

    /// Reserves bytes for a record. Thread-safe; waits for nothing.
    ///
    /// - Parameter length: a multiple of ``JournalFormat/granule``.
    @inline(__always)
    func reserve(_ length: Int) -> JournalLane.Reservation {
        let home = Int(martlet_processor())
        for distance in 0..<Self.lanes {
            let reservation = lane((home + distance) & (Self.lanes - 1)).pointee.reserve(length)
            if case .full = reservation { continue }
            return reservation
        }
        return .full
    }

    /// Whether the segment takes records. Thread-safe. The first lane is opened last.
    var isOpen: Bool { lane(0).pointee.isOpen }

    /// The number of records, roughly while threads write. Thread-safe.
    var records: Int { (0..<Self.lanes).reduce(0) { $0 + (lane($1).pointee.extent?.records ?? 0) } }

    // MARK: For the agent's thread alone

    /// Opens the segment for an interval.
    ///
    /// - Parameter records: zeroes.
    func open(_ records: UnsafeMutableRawBufferPointer, seed: UInt64) {
        for index in (0..<Self.lanes).reversed() { lane(index).pointee.open(records, seed: seed) }
    }

    /// Closes the segment to further records.
    ///
    /// - Returns: the taken part of each lane; empty if the segment was closed.
    func close() -> [JournalLane.Extent] { (0..<Self.lanes).compactMap { lane($0).pointee.close() } }
}
