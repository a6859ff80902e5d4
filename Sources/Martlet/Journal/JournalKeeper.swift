import Foundation
import MartletTelemetry

/// The journal's segments, from the side of the agent's thread: gives them memory, takes the interval that is over out of
/// the way of those who write, and makes what became a batch ready to be used again.
struct JournalKeeper: ~Copyable {
    private let journal: Journal
    private var directory: URL?
    private var banks = [Bank](repeating: Bank(), count: Journal.banks)
    /// The bank that is written to; `nil` before ``open(in:)``.
    private var inUse: Int?
    /// Why a killed process would lose its last interval; `nil` where it would not.
    private(set) var problem: String?

    private struct Bank {
        var sequence: UInt64 = 0
        /// When its interval may begin, by the wall clock.
        var start: UnixNanoseconds = 0
        var memories: [SegmentMemory?] = Array(repeating: nil, count: Journal.slots)
        /// What is taken of each, from when it is closed to when it is released.
        var extents: [JournalSegment.Extent]?
    }

    init(_ journal: Journal) {
        self.journal = journal
    }

    /// Bytes on disk.
    var fileBytes: Int { memories.reduce(0) { $0 + ($1.path == nil ? 0 : $1.bytes.count) } }

    /// Bytes in memory, on disk or not.
    var bytes: Int { memories.reduce(0) { $0 + $1.bytes.count } }

    /// Whether an interval is closed and not released.
    var isClosed: Bool { closedBank != nil }

    private var memories: [SegmentMemory] { banks.flatMap(\.memories).compactMap(\.self) }

    /// Of the interval that requests are written to now; 0 before there is one.
    var sequence: UInt64 { inUse.map { banks[$0].sequence } ?? 0 }

    /// From now on segments are made there; `nil` for in memory. Those that are in use stay where they are.
    mutating func move(to directory: URL?) {
        self.directory = directory
        guard inUse == nil else { return }
        for bank in banks.indices { prepare(bank, sequence: UInt64(bank) + 1) }
        journal.use(bank: 0)
        inUse = 0
    }

    /// Makes the segment ready that comes after the one in use. `true` where the bank is nearly used up.
    mutating func makeRoom() -> Bool {
        guard let inUse else { return false }
        let next = journal.slotInUse + 1
        if next < Journal.slots { prepare(inUse, slot: next) }
        return next >= Journal.slots - Journal.slots / 4
    }

    /// Ends the interval: requests go into the other bank. `nil` where that one is not free yet.
    ///
    /// - Returns: how many requests the interval has.
    mutating func close() -> Int? {
        guard let inUse, banks[inUse].extents == nil else { return nil }
        let other = (inUse + 1) % Journal.banks
        guard banks[other].extents == nil else { return nil }
        journal.use(bank: other)
        self.inUse = other
        let extents = (0..<Journal.slots).map { journal.close(bank: inUse, slot: $0) ?? JournalSegment.Extent() }
        banks[inUse].extents = extents
        return extents.reduce(0) { $0 + $1.records }
    }

    /// The records of the interval that was closed, by segment; `nil` while a thread is still writing one.
    func closedSegments() -> [ClosedSegment]? {
        guard let bank = closedBank, let extents = banks[bank].extents else { return nil }
        var segments: [ClosedSegment] = []
        for (slot, extent) in extents.enumerated() where extent.records > 0 {
            guard let memory = banks[bank].memories[slot] else { continue }
            let records = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(memory.records)[..<extent.bytes])
            guard JournalReader.isWritten(records) else { return nil }
            segments.append(ClosedSegment(records: records, seed: header(bank, slot).seed))
        }
        return segments
    }

    struct ClosedSegment {
        /// Valid until the interval is released.
        let records: UnsafeRawBufferPointer
        let seed: UInt64
    }

    /// The interval is a batch now, or has come to nothing: its segments are made ready for the one after next.
    mutating func release() {
        guard let bank = closedBank, let extents = banks[bank].extents else { return }
        for (slot, extent) in extents.enumerated() {
            guard let memory = banks[bank].memories[slot] else { continue }
            JournalHeader.erase(memory.bytes)
            if slot < Self.spare, isInPlace(memory) {
                UnsafeMutableRawBufferPointer(rebasing: memory.records[..<extent.bytes]).initializeMemory(
                    as: UInt8.self, repeating: 0)
            } else {
                memory.remove()
                banks[bank].memories[slot] = nil
            }
        }
        banks[bank].extents = nil
        prepare(bank, sequence: sequence + 1)
    }

    /// The last use: removes the files, but for those of an interval that is no batch yet.
    mutating func finish() {
        for bank in banks where bank.extents == nil || bank.extents?.allSatisfy({ $0.records == 0 }) == true {
            for memory in bank.memories { memory?.remove() }
        }
    }

    // MARK: -

    /// Segments of a bank that are always there: one that is written to, and the one that comes next.
    private static let spare = 2

    private var closedBank: Int? { banks.firstIndex { $0.extents != nil } }

    /// A file that somebody removed keeps nothing, and one that is where segments are not made any more is in the way.
    private func isInPlace(_ memory: SegmentMemory) -> Bool {
        guard let path = memory.path, let directory else { return false }
        return path.hasPrefix(directory.path + "/") && access(path, F_OK) == 0
    }

    private mutating func prepare(_ bank: Int, sequence: UInt64) {
        banks[bank].sequence = sequence
        banks[bank].start = Clock.wall()
        problem = nil
        for slot in 0..<Self.spare { prepare(bank, slot: slot) }
    }

    private mutating func prepare(_ bank: Int, slot: Int) {
        let index = bank * Journal.slots + slot
        let known = banks[bank].memories[slot]
        guard let memory = known ?? makeMemory(index) else { return }
        banks[bank].memories[slot] = memory
        let header = header(bank, slot)
        header.write(to: memory.bytes)
        journal.open(bank: bank, slot: slot, memory.records, seed: header.seed)
    }

    private func header(_ bank: Int, _ slot: Int) -> JournalHeader {
        JournalHeader(
            sequence: banks[bank].sequence, slot: UInt64(bank * Journal.slots + slot),
            capacity: UInt64(journal.capacity), start: banks[bank].start)
    }

    private mutating func makeMemory(_ index: Int) -> SegmentMemory? {
        let count = JournalFormat.headerBytes + journal.capacity
        do throws(WholeFile.Failure) {
            guard let directory else { return try SegmentMemory(count: count) }
            return try SegmentMemory(path: directory.appendingPathComponent("\(index).journal").path, count: count)
        } catch {
            problem = error.description
            return try? SegmentMemory(count: count)
        }
    }
}
