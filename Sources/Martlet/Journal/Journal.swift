import CMartletHooks
import Foundation
import MartletTelemetry
import Synchronization

/// The memory that a finished request is written to first. The kernel keeps it if the process is killed. Any number of
/// threads write at once, and none waits for another, for a lock or for a disk.
///
/// `@unchecked Sendable`: threads share the segments through atomics. The agent's thread writes their other fields only
/// while they are closed.
final class Journal: @unchecked Sendable {
    /// The number of banks: requests are written to one while the other becomes a batch.
    static let banks = 2
    /// The number of segments in a bank.
    static let slots = 16

    /// The segments, in the order of banks, then slots.
    private let segments: UnsafeMutablePointer<JournalSegment>
    private let current = Atomic<Int>(0)
    /// Called when a segment is full, so that the segment after the next one is prepared.
    private let onFull: @Sendable () -> Void

    /// Bytes of records in a segment.
    let capacity: Int

    init(capacity: Int, onFull: @escaping @Sendable () -> Void = {}) {
        self.capacity = capacity
        self.onFull = onFull
        segments = .allocate(capacity: Self.banks * Self.slots)
        for index in 0..<Self.banks * Self.slots {
            (segments + index).initialize(to: JournalSegment(capacity: capacity))
        }
    }

    /// Memory that stays mapped as long as the journal exists, because a thread may still write to it.
    private let retained = Lock<[SegmentMemory]>([])

    deinit {
        segments.deinitialize(count: Self.banks * Self.slots)
        segments.deallocate()
    }

    /// Records a request, from any thread.
    ///
    /// - Returns: `false` if no segment has room. In that case the caller must count the request in another way.
    func append(_ request: borrowing CapturedRequest) -> Bool {
        let record = JournalRecord(request)
        var index = current.load(ordering: .acquiring)
        while true {
            switch segments[index].reserve(record.length) {
            case .reserved(let bytes, let seed):
                record.write(request, to: bytes)
                JournalLane.publish(bytes, seed: seed)
                return true
            case .full, .closed:
                let now = current.load(ordering: .acquiring)
                if now != index {
                    index = now
                } else if let next = advance(from: index) {
                    index = next
                } else {
                    return false
                }
            }
        }
    }

    /// Moves on to the bank's next segment.
    ///
    /// - Returns: the segment to write to; `nil` if the bank has no further segment, or the next one is not open.
    private func advance(from index: Int) -> Int? {
        let next = index + 1
        guard next % Self.slots != 0, segments[next].isOpen else { return nil }
        let exchange = current.compareExchange(expected: index, desired: next, ordering: .acquiringAndReleasing)
        if exchange.exchanged { onFull() }
        return exchange.exchanged ? next : exchange.original
    }

    /// The number of records in open segments; approximate while threads write. Thread-safe.
    var count: Int { (0..<Self.banks).reduce(0) { $0 + count(inBank: $1) } }

    func count(inBank bank: Int) -> Int {
        (0..<Self.slots).reduce(0) { $0 + segments[bank * Self.slots + $1].records }
    }

    // MARK: Only for the agent's thread

    /// The slot of the current bank that requests are written to.
    var slotInUse: Int { current.load(ordering: .acquiring) % Self.slots }

    func open(bank: Int, slot: Int, _ records: UnsafeMutableRawBufferPointer, seed: UInt64) {
        segments[bank * Self.slots + slot].open(records, seed: seed)
    }

    /// Keeps memory mapped until the journal is released. The segments are not used after that.
    func retain(_ memories: [SegmentMemory]) { retained.withLock { $0 += memories } }

    /// Directs requests into a bank from now on.
    func use(bank: Int) { current.store(bank * Self.slots, ordering: .releasing) }

    func close(bank: Int, slot: Int) -> [JournalLane.Extent] { segments[bank * Self.slots + slot].close() }

    /// Closes some open segments of a bank if none of them has a record.
    ///
    /// - Returns: `false` if one has a record. All of them stay open then.
    func closeIfEmpty(bank: Int, slots: [Int]) -> Bool {
        let closed = slots.prefix { segments[bank * Self.slots + $0].closeIfEmpty() }
        if closed.count < slots.count { for slot in closed { segments[bank * Self.slots + slot].reopen() } }
        return closed.count == slots.count
    }
}

/// A segment as the writing threads see it: lanes. Each thread takes the lane of the processor that it runs on, so that
/// two threads that record at once do not take cache lines from each other. If its lane is full, it takes the next one.
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

    /// The number of records; approximate while threads write. Thread-safe.
    var records: Int { (0..<Self.lanes).reduce(0) { $0 + (lane($1).pointee.extent?.records ?? 0) } }

    // MARK: Only for the agent's thread

    /// Opens the segment for an interval.
    ///
    /// - Parameter records: the segment's records, all zeroes.
    func open(_ records: UnsafeMutableRawBufferPointer, seed: UInt64) {
        for index in (0..<Self.lanes).reversed() { lane(index).pointee.open(records, seed: seed) }
    }

    /// Closes the segment to further records.
    ///
    /// - Returns: the used part of each lane; empty if the segment was already closed.
    func close() -> [JournalLane.Extent] { (0..<Self.lanes).compactMap { lane($0).pointee.close() } }

    /// Closes the open segment if it has no record; returns `false` if it has one and stays open.
    func closeIfEmpty() -> Bool {
        let closed = (0..<Self.lanes).prefix { lane($0).pointee.closeIfEmpty() }
        if closed.count < Self.lanes { for index in closed.reversed() { lane(index).pointee.reopen() } }
        return closed.count == Self.lanes
    }

    /// Opens the segment again after ``closeIfEmpty()``.
    func reopen() { for index in (0..<Self.lanes).reversed() { lane(index).pointee.reopen() } }
}

/// A part of a segment that the threads of some processors write to.
///
/// A lane keeps its address as long as the journal exists. While it has no memory it is closed, so that a late thread
/// does no harm. It is in unsafe memory because a writing thread must not count references: all threads would share
/// that counter.
struct JournalLane: ~Copyable {
    /// The word of the lane's ``Head``.
    private let head = Atomic<UInt64>(Head.closed.word)
    /// The offset of the lane in the segment's records, in bytes.
    private let start: Int
    private let capacity: Int
    /// The lane's memory. It is stored apart from the atomics, because other threads may read those at any time.
    /// Written only while the lane is closed, and read by threads that have a reservation.
    private let memory: UnsafeMutablePointer<Memory>

    private struct Memory {
        var records = UnsafeMutableRawBufferPointer(start: nil, count: 0)
        var seed: UInt64 = 0
    }

    /// - Parameters:
    ///   - start: the offset of the lane in the segment's records, in bytes.
    ///   - capacity: bytes of records.
    init(from start: Int, capacity: Int) {
        (self.start, self.capacity) = (start, capacity)
        memory = .allocate(capacity: 1)
        memory.initialize(to: Memory())
    }

    deinit { memory.deallocate() }

    /// The used part of a lane in one word, so that one atomic exchange reserves the bytes of a record and counts it. The
    /// upper 24 bits are the number of records, the lower 40 their bytes. The highest bit of the bytes marks a closed
    /// lane.
    fileprivate struct Head {
        let word: UInt64

        static var empty: Head { Head(word: 0) }
        static var closed: Head { Head(word: 1 << 39) }

        /// The word to add for a record of `length` bytes.
        static func record(_ length: Int) -> UInt64 { 1 << 40 | UInt64(length) }

        var records: Int { Int(word >> 40) }
        var bytes: Int { Int(word & ((1 << 40) - 1)) }
        var isClosed: Bool { word & Self.closed.word != 0 }
    }

    /// The used part of a lane.
    struct Extent {
        let records: Int
        /// The used bytes, as offsets in the segment's records.
        let range: Range<Int>

        fileprivate init(_ head: Head, from start: Int) {
            records = head.records
            range = start..<start + head.bytes
        }
    }

    /// The result of a reservation.
    enum Reservation {
        /// Bytes for the record, which no other thread writes to. The lane is not reused before the record is
        /// published.
        case reserved(UnsafeMutableRawBufferPointer, seed: UInt64)
        case full
        case closed
    }

    /// Reserves bytes for a record. Thread-safe; waits for nothing. It tries again only if another thread has reserved
    /// bytes at the same moment.
    ///
    /// - Parameter length: a multiple of ``JournalFormat/granule``.
    @inline(__always)
    func reserve(_ length: Int) -> Reservation {
        var seen = Head(word: head.load(ordering: .relaxed))
        while true {
            guard seen.bytes + length <= capacity else {
                // The caller of a closed lane looks for the one that is in use instead, so it must not see an older one.
                return isOpen ? .full : .closed
            }
            let next = seen.word &+ Head.record(length)
            let exchange = head.weakCompareExchange(
                expected: seen.word, desired: next, successOrdering: .acquiringAndReleasing, failureOrdering: .relaxed)
            if exchange.exchanged { break }
            seen = Head(word: exchange.original)
        }
        let offset = seen.bytes
        let record = UnsafeMutableRawBufferPointer(rebasing: memory.pointee.records[offset..<offset + length])
        return .reserved(record, seed: memory.pointee.seed &+ UInt64(offset))
    }

    /// Turns the bytes written into a reservation into a valid record.
    @inline(__always)
    static func publish(_ record: UnsafeMutableRawBufferPointer, seed: UInt64) {
        let checksum = JournalChecksum.checksum(of: UnsafeRawBufferPointer(record), seed: seed)
        JournalFormat.publish(JournalFormat.word(length: record.count, checksum: checksum), at: record)
    }

    /// Whether the lane takes records. Thread-safe.
    var isOpen: Bool { !Head(word: head.load(ordering: .acquiring)).isClosed }

    /// The used part at this moment; `nil` while the lane is closed. Thread-safe.
    var extent: Extent? {
        let seen = Head(word: head.load(ordering: .acquiring))
        return seen.isClosed ? nil : Extent(seen, from: start)
    }

    // MARK: Only for the agent's thread

    /// Opens the lane for an interval.
    ///
    /// - Parameters:
    ///   - records: the segment's records, all zeroes.
    ///   - seed: the segment's seed.
    func open(_ records: UnsafeMutableRawBufferPointer, seed: UInt64) {
        memory.pointee = Memory(
            records: UnsafeMutableRawBufferPointer(rebasing: records[start..<start + capacity]),
            seed: seed &+ UInt64(start))
        head.store(Head.empty.word, ordering: .releasing)
    }

    /// Closes the open lane if it has no record.
    func closeIfEmpty() -> Bool {
        head.compareExchange(
            expected: Head.empty.word, desired: Head.closed.word, ordering: .acquiringAndReleasing
        ).exchanged
    }

    /// Opens the lane again after ``closeIfEmpty()``.
    func reopen() { head.store(Head.empty.word, ordering: .releasing) }

    /// Closes the lane to further records. Waits for no thread.
    ///
    /// - Returns: the used part; `nil` if the lane was already closed.
    func close() -> Extent? {
        let last = Head(word: head.exchange(Head.closed.word, ordering: .acquiringAndReleasing))
        return last.isClosed ? nil : Extent(last, from: start)
    }
}
