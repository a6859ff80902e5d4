import Foundation
import Synchronization

/// A part of a segment that the threads of some processors write to.
///
/// A lane keeps its address as long as the journal lives, and is closed while it has no memory, so that a late thread finds
/// it closed and does no harm. It lives in unsafe memory because a writing thread must not count references: all threads
/// would share that counter.
struct JournalLane: ~Copyable {
    /// The word of the lane's ``Head``.
    private let head = Atomic<UInt64>(Head.closed.word)
    /// The word of the head at the first record that found no room; ``Head/closed`` until then.
    private let full = Atomic<UInt64>(Head.closed.word)
    /// The byte of the segment's records at which the lane begins.
    private let start: Int
    private let capacity: Int
    /// The lane's memory, apart from the atomics, which other threads read meanwhile. Written while the lane is closed, and
    /// read by threads that have a reservation.
    private let memory: UnsafeMutablePointer<Memory>

    private struct Memory {
        var records = UnsafeMutableRawBufferPointer(start: nil, count: 0)
        var seed: UInt64 = 0
    }

    /// - Parameters:
    ///   - start: the byte of the segment's records at which the lane begins.
    ///   - capacity: bytes of records.
    init(from start: Int, capacity: Int) {
        (self.start, self.capacity) = (start, capacity)
        memory = .allocate(capacity: 1)
        memory.initialize(to: Memory())
    }

    deinit { memory.deallocate() }

    /// The taken part of a lane in one word, so that one atomic add reserves the bytes of a record and counts it: the number
    /// of records in the upper 24 bits, their bytes in the lower 40. The highest bit of the bytes marks a closed lane.
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

    /// The taken part of a lane.
    struct Extent {
        let records: Int
        /// The bytes of the segment's records.
        let range: Range<Int>

        fileprivate init(_ head: Head, from start: Int) {
            records = head.records
            range = start..<start + head.bytes
        }
    }

    /// The result of a reservation.
    enum Reservation {
        /// Bytes for the record, which no other thread writes to. The lane is not used again before the record is published.
        case reserved(UnsafeMutableRawBufferPointer, seed: UInt64)
        case full
        case closed
    }

    /// Reserves bytes for a record. Thread-safe; waits for nothing.
    ///
    /// - Parameter length: a multiple of ``JournalFormat/granule``.
    @inline(__always)
    func reserve(_ length: Int) -> Reservation {
        // Only threads that see room add to the head, so that it cannot grow without bound.
        let seen = Head(word: head.load(ordering: .relaxed))
        guard seen.bytes <= capacity else { return seen.isClosed ? .closed : .full }
        let reserved = Head(word: head.wrappingAdd(Head.record(length), ordering: .acquiringAndReleasing).oldValue)
        let offset = reserved.bytes
        guard offset + length <= capacity else {
            // Exactly one record crosses the boundary; the records after it begin beyond.
            if offset <= capacity { full.store(reserved.word, ordering: .releasing) }
            return reserved.isClosed ? .closed : .full
        }
        let record = UnsafeMutableRawBufferPointer(rebasing: memory.pointee.records[offset..<offset + length])
        return .reserved(record, seed: memory.pointee.seed &+ UInt64(offset))
    }

    /// Makes the bytes written into a reservation a record.
    @inline(__always)
    static func publish(_ record: UnsafeMutableRawBufferPointer, seed: UInt64) {
        let checksum = JournalChecksum.of(UnsafeRawBufferPointer(record), seed: seed)
        JournalFormat.publish(JournalFormat.word(length: record.count, checksum: checksum), at: record)
    }

    /// Whether the lane takes records. Thread-safe.
    var isOpen: Bool { !Head(word: head.load(ordering: .acquiring)).isClosed }

    /// The taken part at this moment; `nil` while the lane is closed or about to be full. Thread-safe.
    var extent: Extent? {
        let seen = Head(word: head.load(ordering: .acquiring))
        guard !seen.isClosed else { return nil }
        let taken = seen.bytes > capacity ? Head(word: full.load(ordering: .acquiring)) : seen
        return taken.isClosed ? nil : Extent(taken, from: start)
    }

    // MARK: For the agent's thread alone

    /// Opens the lane for an interval.
    ///
    /// - Parameters:
    ///   - records: the segment's, zeroes.
    ///   - seed: the segment's.
    func open(_ records: UnsafeMutableRawBufferPointer, seed: UInt64) {
        memory.pointee = Memory(
            records: UnsafeMutableRawBufferPointer(rebasing: records[start..<start + capacity]),
            seed: seed &+ UInt64(start))
        full.store(Head.closed.word, ordering: .relaxed)
        head.store(Head.empty.word, ordering: .releasing)
    }

    /// Closes the lane to further records.
    ///
    /// - Returns: the taken part; `nil` if the lane was closed.
    func close() -> Extent? {
        let last = Head(word: head.exchange(Head.closed.word, ordering: .acquiringAndReleasing))
        guard !last.isClosed else { return nil }
        guard last.bytes > capacity else { return Extent(last, from: start) }
        // The thread that crossed the boundary is about to note the head.
        while full.load(ordering: .acquiring) == Head.closed.word { sched_yield() }
        return Extent(Head(word: full.load(ordering: .acquiring)), from: start)
    }
}
