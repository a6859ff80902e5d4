import Foundation
import Synchronization

/// A part of a segment that the threads of some processors write to.
///
/// A lane keeps its address as long as the journal lives, and is closed while it has no memory, so that a late thread finds
/// it closed and does no harm. It lives in unsafe memory because a writing thread must not count references: all threads
/// would share that counter.
struct JournalLane: ~Copyable {
    /// The number of records in the upper 24 bits, their bytes in the lower 40: one atomic add reserves and counts.
    private let head = Atomic<UInt64>(JournalLane.closed)
    /// The head at the first record that found no room; ``closed`` until then.
    private let full = Atomic<UInt64>(JournalLane.closed)
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

    private static let closed: UInt64 = 1 << 39
    private static let bytesMask: UInt64 = (1 << 40) - 1
    private static let oneRecord: UInt64 = 1 << 40

    /// The taken part of a lane.
    struct Extent {
        let records: Int
        /// The bytes of the segment's records.
        let range: Range<Int>

        fileprivate init(_ head: UInt64, from start: Int) {
            records = Int(head >> 40)
            range = start..<start + Int(head & JournalLane.bytesMask)
        }
    }

    /// The result of a reservation.
    enum Reservation {
        /// Bytes for the record, which no other thread writes to. The lane is not used again before the record is published.
        case room(UnsafeMutableRawBufferPointer, seed: UInt64)
        case full
        case closed
    }

    /// Reserves bytes for a record. Thread-safe; waits for nothing.
    ///
    /// - Parameter length: a multiple of ``JournalFormat/granule``.
    @inline(__always)
    func reserve(_ length: Int) -> Reservation {
        // Only threads that see room add to the head, so that it cannot grow without bound.
        let seen = head.load(ordering: .relaxed) & Self.bytesMask
        guard seen <= UInt64(capacity) else { return seen >= Self.closed ? .closed : .full }
        let reserved = head.wrappingAdd(Self.oneRecord | UInt64(length), ordering: .acquiringAndReleasing).oldValue
        let place = Int(reserved & Self.bytesMask)
        guard place + length <= capacity else {
            // Exactly one record crosses the boundary; the records after it begin beyond.
            if place <= capacity { full.store(reserved, ordering: .releasing) }
            return place >= Int(Self.closed) ? .closed : .full
        }
        let room = UnsafeMutableRawBufferPointer(rebasing: memory.pointee.records[place..<place + length])
        return .room(room, seed: memory.pointee.seed &+ UInt64(place))
    }

    /// Makes the bytes written into a reservation a record.
    @inline(__always)
    static func publish(_ record: UnsafeMutableRawBufferPointer, seed: UInt64) {
        let checksum = JournalChecksum.of(UnsafeRawBufferPointer(record), seed: seed)
        JournalFormat.publish(JournalFormat.word(length: record.count, checksum: checksum), at: record)
    }

    /// Whether the lane takes records. Thread-safe.
    var isOpen: Bool { head.load(ordering: .acquiring) & Self.closed == 0 }

    /// The taken part at this moment; `nil` while the lane is closed or about to be full. Thread-safe.
    var extent: Extent? {
        let head = head.load(ordering: .acquiring)
        guard head & Self.closed == 0 else { return nil }
        let isBeyond = head & Self.bytesMask > UInt64(capacity)
        let extent = isBeyond ? full.load(ordering: .acquiring) : head
        return extent & Self.closed == 0 ? Extent(extent, from: start) : nil
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
        full.store(Self.closed, ordering: .relaxed)
        head.store(0, ordering: .releasing)
    }

    /// Closes the lane to further records.
    ///
    /// - Returns: the taken part; `nil` if the lane was closed.
    func close() -> Extent? {
        let head = head.exchange(Self.closed, ordering: .acquiringAndReleasing)
        guard head & Self.closed == 0 else { return nil }
        guard head & Self.bytesMask > UInt64(capacity) else { return Extent(head, from: start) }
        // The thread that crossed the boundary is about to note the head.
        while full.load(ordering: .acquiring) == Self.closed { sched_yield() }
        return Extent(full.load(ordering: .acquiring), from: start)
    }
}
