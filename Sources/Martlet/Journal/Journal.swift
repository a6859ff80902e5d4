import Foundation
import MartletTelemetry
import Synchronization

/// The memory that a finished request is written to first, which the kernel keeps when the process is killed. Any number of
/// threads write at once, and none waits for another, for a lock or for a disk.
///
/// `@unchecked Sendable`: threads share the segments through atomics. The agent's thread writes their other fields while they
/// are closed.
final class Journal: @unchecked Sendable {
    /// The number of banks: requests go into one while the other becomes a batch.
    static let banks = 2
    /// The number of segments in a bank.
    static let slots = 16

    /// The segments, in the order of banks, then slots.
    private let segments: UnsafeMutablePointer<JournalSegment>
    private let current = Atomic<Int>(0)
    /// Called when a segment is full, so that the next but one is made ready.
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

    /// Memory that stays mapped as long as the journal lives, because a thread may still write to it.
    private let retained = Lock<[SegmentMemory]>([])

    deinit {
        segments.deinitialize(count: Self.banks * Self.slots)
        segments.deallocate()
    }

    /// Records a request, from any thread.
    ///
    /// - Returns: `false` if no segment has room. The request must be counted in another way then.
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
    /// - Returns: the segment to write to; `nil` if the bank has no other, or the next one is not open.
    private func advance(from index: Int) -> Int? {
        let next = index + 1
        guard next % Self.slots != 0, segments[next].isOpen else { return nil }
        let exchange = current.compareExchange(expected: index, desired: next, ordering: .acquiringAndReleasing)
        if exchange.exchanged { onFull() }
        return exchange.exchanged ? next : exchange.original
    }

    /// The number of records in open segments, roughly while threads write. Thread-safe.
    var count: Int { (0..<Self.banks).reduce(0) { $0 + count(inBank: $1) } }

    func count(inBank bank: Int) -> Int {
        (0..<Self.slots).reduce(0) { $0 + segments[bank * Self.slots + $1].records }
    }

    // MARK: For the agent's thread alone

    /// The slot of the current bank that requests are written to.
    var slotInUse: Int { current.load(ordering: .acquiring) % Self.slots }

    func open(bank: Int, slot: Int, _ records: UnsafeMutableRawBufferPointer, seed: UInt64) {
        segments[bank * Self.slots + slot].open(records, seed: seed)
    }

    /// Keeps memory mapped until the journal is gone. The last use of all segments.
    func retain(_ memories: [SegmentMemory]) { retained.withLock { $0 += memories } }

    /// Directs requests into a bank from now on.
    func use(bank: Int) { current.store(bank * Self.slots, ordering: .releasing) }

    func close(bank: Int, slot: Int) -> [JournalLane.Extent] { segments[bank * Self.slots + slot].close() }
}
