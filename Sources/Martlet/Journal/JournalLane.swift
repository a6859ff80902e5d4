import Foundation
import Synchronization

/// A part of a segment, which the threads of some processors write to: how much of it is taken, and where its memory is.
///
/// It stays where it is as long as the journal lives and is closed while it has no memory, so that a thread that comes late
/// finds it closed and nothing worse. It lives in unsafe memory because a thread that writes must not count references:
/// that counter would be shared by all of them.
struct JournalLane: ~Copyable {
    /// Records in the upper 24 bits, bytes in the lower 40: one add reserves and counts.
    private let head = Atomic<UInt64>(JournalLane.closed)
    /// The head at the first record that found no room; ``closed`` until there is one.
    private let full = Atomic<UInt64>(JournalLane.closed)
    /// Where it begins in the segment's records.
    private let start: Int
    private let capacity: Int
    /// Written while the lane is closed, and read by those who found room. Apart from the atomics, which others look at
    /// meanwhile.
    private let memory: UnsafeMutablePointer<Memory>

    private struct Memory {
        var records = UnsafeMutableRawBufferPointer(start: nil, count: 0)
        var seed: UInt64 = 0
    }

    /// - Parameters:
    ///   - start: where it begins in the segment's records.
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

    /// What is taken of it.
    struct Extent {
        let records: Int
        /// Of the segment's records.
        let range: Range<Int>

        fileprivate init(_ head: UInt64, from start: Int) {
            records = Int(head >> 40)
            range = start..<start + Int(head & JournalLane.bytesMask)
        }
    }

    /// What became of a reservation.
    enum Reservation {
        /// Room for the record, which nobody else writes to; the lane is not used again before it is published.
        case room(UnsafeMutableRawBufferPointer, seed: UInt64)
        case full
        case closed
    }

    /// From any thread. Waits for nothing.
    ///
    /// - Parameter length: a multiple of ``JournalFormat/granule``.
    @inline(__always)
    func reserve(_ length: Int) -> Reservation {
        // Only those who see room take part, so that the head cannot grow without bound.
        let seen = head.load(ordering: .relaxed) & Self.bytesMask
        guard seen <= UInt64(capacity) else { return seen >= Self.closed ? .closed : .full }
        let reserved = head.wrappingAdd(Self.oneRecord | UInt64(length), ordering: .acquiringAndReleasing).oldValue
        let place = Int(reserved & Self.bytesMask)
        guard place + length <= capacity else {
            // One record alone stands on the boundary; those after it are beyond.
            if place <= capacity { full.store(reserved, ordering: .releasing) }
            return place >= Int(Self.closed) ? .closed : .full
        }
        let room = UnsafeMutableRawBufferPointer(rebasing: memory.pointee.records[place..<place + length])
        return .room(room, seed: memory.pointee.seed &+ UInt64(place))
    }

    /// Makes what was written into reserved room a record.
    @inline(__always)
    static func publish(_ record: UnsafeMutableRawBufferPointer, seed: UInt64) {
        let checksum = JournalChecksum.of(UnsafeRawBufferPointer(record), seed: seed)
        JournalFormat.publish(JournalFormat.word(length: record.count, checksum: checksum), at: record)
    }

    /// From any thread.
    var isOpen: Bool { head.load(ordering: .acquiring) & Self.closed == 0 }

    /// From any thread: as it is at this moment; `nil` while it is closed, or on the way to being full.
    var extent: Extent? {
        let head = head.load(ordering: .acquiring)
        guard head & Self.closed == 0 else { return nil }
        let isBeyond = head & Self.bytesMask > UInt64(capacity)
        let extent = isBeyond ? full.load(ordering: .acquiring) : head
        return extent & Self.closed == 0 ? Extent(extent, from: start) : nil
    }

    // MARK: For the agent's thread alone

    /// Opens it for an interval.
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

    /// Lets no record in any more, and tells what was taken; `nil` where it was closed.
    func close() -> Extent? {
        let head = head.exchange(Self.closed, ordering: .acquiringAndReleasing)
        guard head & Self.closed == 0 else { return nil }
        guard head & Self.bytesMask > UInt64(capacity) else { return Extent(head, from: start) }
        // Whoever went over the boundary is about to say where it was.
        while full.load(ordering: .acquiring) == Self.closed { sched_yield() }
        return Extent(full.load(ordering: .acquiring), from: start)
    }
}
