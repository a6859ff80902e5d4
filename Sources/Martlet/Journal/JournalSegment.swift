import MartletTelemetry
import Synchronization

/// A segment as the threads that write to it see it: how much of it is taken, and where its memory is.
///
/// A slot stays where it is as long as the journal lives and is closed while it has no memory, so that a thread that comes
/// late finds it closed and nothing worse. It lives in unsafe memory because a thread that writes must not count
/// references: that counter would be shared by all of them.
struct JournalSegment: ~Copyable {
    /// Records in the upper 24 bits, bytes in the lower 40: one add reserves and counts.
    private let head = Atomic<UInt64>(JournalSegment.closed)
    /// The head at the first record that found no room; ``closed`` until there is one.
    private let full = Atomic<UInt64>(JournalSegment.closed)
    private let capacity: Int
    /// Written while the segment is closed, and read by those who found room.
    private var records = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    private var seed: UInt64 = 0

    /// - Parameter capacity: bytes of records.
    init(capacity: Int) {
        self.capacity = capacity
    }

    private static let closed: UInt64 = 1 << 39
    private static let bytesMask: UInt64 = (1 << 40) - 1
    private static let oneRecord: UInt64 = 1 << 40

    /// What is taken of it.
    struct Extent: Equatable {
        var records = 0
        var bytes = 0

        init() {}

        fileprivate init(_ head: UInt64) {
            records = Int(head >> 40)
            bytes = Int(head & JournalSegment.bytesMask)
        }
    }

    enum Appending {
        case done
        case full
        case closed
    }

    /// From any thread. Waits for nothing.
    ///
    /// - Parameter record: a multiple of ``JournalFormat/granule`` long; its first word is written here.
    @inline(__always)
    func append(_ record: UnsafeMutableRawBufferPointer) -> Appending {
        let reserved = head.wrappingAdd(Self.oneRecord | UInt64(record.count), ordering: .acquiringAndReleasing).oldValue
        let place = Int(reserved & Self.bytesMask)
        guard place + record.count <= capacity else {
            // One record alone stands on the boundary; those after it are beyond.
            if place <= capacity { full.store(reserved, ordering: .releasing) }
            return place >= Int(Self.closed) ? .closed : .full
        }
        let checksum = JournalChecksum.of(UnsafeRawBufferPointer(record), seed: seed &+ UInt64(place))
        let target = UnsafeMutableRawBufferPointer(rebasing: records[place..<place + record.count])
        UnsafeMutableRawBufferPointer(rebasing: target[8...]).copyMemory(
            from: UnsafeRawBufferPointer(rebasing: record[8...]))
        JournalFormat.publish(JournalFormat.word(length: record.count, checksum: checksum), at: target)
        return .done
    }

    /// From any thread: as it is at this moment; `nil` while it is closed, or on the way to being full.
    var extent: Extent? {
        let head = head.load(ordering: .acquiring)
        guard head & Self.closed == 0 else { return nil }
        let isBeyond = head & Self.bytesMask > UInt64(capacity)
        let extent = isBeyond ? full.load(ordering: .acquiring) : head
        return extent & Self.closed == 0 ? Extent(extent) : nil
    }

    // MARK: For the agent's thread alone

    /// Opens it for an interval.
    ///
    /// - Parameter records: zeroes.
    mutating func open(_ records: UnsafeMutableRawBufferPointer, seed: UInt64) {
        self.records = records
        self.seed = seed
        full.store(Self.closed, ordering: .relaxed)
        head.store(0, ordering: .releasing)
    }

    /// Lets no record in any more, and tells what was taken; `nil` where it was closed.
    mutating func close() -> Extent? {
        let head = head.exchange(Self.closed, ordering: .acquiringAndReleasing)
        guard head & Self.closed == 0 else { return nil }
        guard head & Self.bytesMask > UInt64(capacity) else { return Extent(head) }
        // Whoever went over the boundary is about to say where it was.
        while full.load(ordering: .acquiring) == Self.closed {}
        return Extent(full.load(ordering: .acquiring))
    }
}
