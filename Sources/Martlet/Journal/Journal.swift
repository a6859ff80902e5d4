import Foundation
import MartletTelemetry
import Synchronization

/// Where a finished request goes first: into memory that the kernel keeps when the process is killed. Any number of threads
/// write at once, and none waits for another, for a lock or for a disk.
///
/// `@unchecked Sendable`: the segments' atomics carry what threads share; what is not atomic in them is written by the
/// agent's thread while they are closed.
final class Journal: @unchecked Sendable {
    /// Two banks: requests go into one while the other is made a batch of.
    static let banks = 2
    /// Segments of a bank.
    static let slots = 16

    /// In the order of banks, then slots.
    private let segments: UnsafeMutablePointer<JournalSegment>
    private let current = Atomic<Int>(0)
    /// Told when a segment is full, and the next but one is wanted.
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

    /// Memory that nobody will take away any more, as long as there is somebody who may write to it.
    private let kept = Lock<[SegmentMemory]>([])

    deinit {
        segments.deinitialize(count: Self.banks * Self.slots)
        segments.deallocate()
    }

    /// From any thread. `false` where there is no room: the request is to be counted in another way.
    func append(_ request: borrowing CapturedRequest) -> Bool {
        let record = JournalRecord(request)
        var index = current.load(ordering: .acquiring)
        while true {
            switch segments[index].reserve(record.length) {
            case .room(let room, let seed):
                record.write(request, to: room)
                JournalLane.publish(room, seed: seed)
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

    /// `nil` where the bank has no other segment, or the next one is not open.
    private func advance(from index: Int) -> Int? {
        let next = index + 1
        guard next % Self.slots != 0, segments[next].isOpen else { return nil }
        let exchange = current.compareExchange(expected: index, desired: next, ordering: .acquiringAndReleasing)
        if exchange.exchanged { onFull() }
        return exchange.exchanged ? next : exchange.original
    }

    /// From any thread: how many records there are in segments that are open. Roughly, while others write.
    var count: Int { (0..<Self.banks).reduce(0) { $0 + count(inBank: $1) } }

    func count(inBank bank: Int) -> Int {
        (0..<Self.slots).reduce(0) { $0 + segments[bank * Self.slots + $1].records }
    }

    // MARK: For the agent's thread alone

    /// The slot of the current bank that is written to.
    var slotInUse: Int { current.load(ordering: .acquiring) % Self.slots }

    func open(bank: Int, slot: Int, _ records: UnsafeMutableRawBufferPointer, seed: UInt64) {
        segments[bank * Self.slots + slot].open(records, seed: seed)
    }

    /// Holds memory until the journal is gone: the last use of all segments.
    func keep(_ memories: [SegmentMemory]) { kept.withLock { $0 += memories } }

    /// From here on requests go into that bank.
    func use(bank: Int) { current.store(bank * Self.slots, ordering: .releasing) }

    func close(bank: Int, slot: Int) -> [JournalLane.Extent] { segments[bank * Self.slots + slot].close() }
}
