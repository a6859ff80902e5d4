import Foundation
import MartletTelemetry

/// The journal's segments, from the side of the agent's thread: gives them memory, takes the interval that is over out of
/// the way of those who write, and makes what became a batch ready to be used again.
final class JournalKeeper {
    private let journal: Journal
    private var directory: URL?
    private var banks = [Bank](repeating: Bank(), count: Journal.banks)
    /// The bank that is written to; `nil` before ``move(to:)`` or ``beginInMemory()``.
    private var inUse: Int?
    /// Why a killed process would lose its last interval; `nil` where it would not.
    private(set) var problem: String?
    /// Nanoseconds without capture, as the segments have it.
    private var unwatched: UInt64 = 0
    /// None is ever used twice.
    private var lastSequence: UInt64 = 0

    private struct Bank {
        var sequence: UInt64 = 0
        /// When its interval may begin, by the wall clock.
        var start: UnixNanoseconds = 0
        var memories: [SegmentMemory?] = Array(repeating: nil, count: Journal.slots)
        /// What is taken of the lanes of each, from when it is closed to when it is released.
        var extents: [[JournalLane.Extent]]?
    }

    init(_ journal: Journal) {
        self.journal = journal
    }

    /// Bytes on disk.
    var fileBytes: Int { memories.reduce(0) { $0 + ($1.path == nil ? 0 : $1.bytes.count) } }

    /// Bytes of what is no file: the process's own memory.
    var memoryBytes: Int { memories.reduce(0) { $0 + ($1.path == nil ? $1.bytes.count : 0) } }

    private var memories: [SegmentMemory] { banks.flatMap(\.memories).compactMap(\.self) }

    /// Of the interval that is closed and not released.
    var closedSequence: UInt64? { closedBank.map { banks[$0].sequence } }

    /// Whether a killed process would leave requests of that interval in files.
    var isClosedOnDisk: Bool { !closedFiles.isEmpty }

    /// Notes in these files that a batch of the interval is about to be sent.
    func noteSent() {
        for memory in closedFiles { JournalHeader.noteSent(memory.bytes) }
    }

    /// Notes in the segments in use for how long capture was off, which nobody knows any more when the process is killed.
    func noteUnwatched(_ nanoseconds: UInt64) {
        unwatched = nanoseconds
        guard let inUse else { return }
        for memory in banks[inUse].memories.compactMap(\.self) {
            JournalHeader.noteUnwatched(nanoseconds, in: memory.bytes)
        }
    }

    private var closedFiles: [SegmentMemory] {
        guard let bank = closedBank, let extents = banks[bank].extents else { return [] }
        return zip(banks[bank].memories, extents).compactMap { memory, extents in
            guard let path = memory?.path, extents.contains(where: { $0.records > 0 }) else { return nil }
            return access(path, F_OK) == 0 ? memory : nil
        }
    }

    /// Begins without a directory, where that was not done yet: what is recorded goes with the process.
    func beginInMemory() {
        if inUse == nil { begin() }
    }

    /// From now on segments are made there. Those of the interval that goes on stay where they are until it has ended.
    func move(to directory: URL) {
        self.directory = directory
        guard let inUse else { return begin() }
        let other = (inUse + 1) % Journal.banks
        guard banks[other].extents == nil else { return }
        // A thread that slept since before the last interval may have left something: it moves when it has been sealed.
        guard journal.count(inBank: other) == 0 else { return }
        let extents = closeSegments(of: other)
        guard Self.records(extents) == 0 else { return banks[other].extents = extents }
        for slot in banks[other].memories.indices where slot >= Self.spare || !isInPlace(banks[other].memories[slot]) {
            removeMemory(other, slot: slot)
        }
        // Nothing goes by its sequence yet, and a sequence left out would look like a batch that was lost.
        open(other)
    }

    private func begin() {
        for bank in banks.indices { prepare(bank) }
        journal.use(bank: 0)
        inUse = 0
    }

    /// Whether there is a segment anywhere else than in the directory.
    var isMoving: Bool { memories.contains { $0.path != nil && !isInPlace($0) } }

    /// Makes the segment ready that comes after the one in use. `true` where the bank is nearly used up.
    func makeRoom() -> Bool {
        guard let inUse else { return false }
        let next = journal.slotInUse + 1
        // One that has memory is open, and may be written to already.
        if next < Journal.slots, banks[inUse].memories[next] == nil { prepare(inUse, slot: next) }
        return next >= Journal.slots - Journal.slots / 4
    }

    /// Ends the interval: requests go into the other bank. `nil` where that one is not free yet.
    ///
    /// - Returns: how many requests the interval has.
    func close() -> Int? {
        guard let inUse, banks[inUse].extents == nil else { return nil }
        let other = (inUse + 1) % Journal.banks
        guard banks[other].extents == nil else { return nil }
        journal.use(bank: other)
        self.inUse = other
        noteUnwatched(unwatched)
        let extents = closeSegments(of: inUse)
        banks[inUse].extents = extents
        return Self.records(extents)
    }

    private func closeSegments(of bank: Int) -> [[JournalLane.Extent]] {
        (0..<Journal.slots).map { journal.close(bank: bank, slot: $0) }
    }

    private static func records(_ extents: [[JournalLane.Extent]]) -> Int {
        extents.joined().reduce(0) { $0 + $1.records }
    }

    /// The records of the interval that was closed, by lane; `nil` while a thread is still writing one.
    func closedLanes() -> [ClosedLane]? {
        guard let bank = closedBank, let extents = banks[bank].extents else { return nil }
        var lanes: [ClosedLane] = []
        for (slot, extents) in extents.enumerated() {
            guard let memory = banks[bank].memories[slot] else { continue }
            for extent in extents where extent.records > 0 {
                let records = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(memory.records)[extent.range])
                guard JournalReader.isWritten(records) else { return nil }
                let seed = header(bank, slot).seed &+ UInt64(extent.range.lowerBound)
                lanes.append(ClosedLane(records: records, seed: seed))
            }
        }
        return lanes
    }

    /// A lane of a closed segment, for the reader.
    struct ClosedLane {
        /// Valid until the interval is released.
        let records: UnsafeRawBufferPointer
        let seed: UInt64
    }

    /// The interval is a batch now, or has come to nothing: its segments are made ready for the one after next.
    func release() {
        guard let bank = closedBank, let extents = banks[bank].extents else { return }
        for (slot, extents) in extents.enumerated() {
            guard let memory = banks[bank].memories[slot] else { continue }
            JournalHeader.erase(memory.bytes)
            if slot < Self.spare, isInPlace(memory) {
                for extent in extents {
                    UnsafeMutableRawBufferPointer(rebasing: memory.records[extent.range]).initializeMemory(
                        as: UInt8.self, repeating: 0)
                }
            } else {
                removeMemory(bank, slot: slot)
            }
        }
        banks[bank].extents = nil
        prepare(bank)
    }

    /// The last use: lets nothing in any more.
    ///
    /// - Returns: how many requests are in segments that were open, and the memory whose files hold none and can be removed.
    func finish() -> (requests: Int, empty: [SegmentMemory]) {
        var left = 0
        var empty: [SegmentMemory] = []
        for bank in banks.indices {
            let extents = banks[bank].extents ?? closeSegments(of: bank)
            let records = Self.records(extents)
            if banks[bank].extents == nil { left += records }
            if records == 0 { empty += banks[bank].memories.compactMap(\.self) }
        }
        // A thread may be in the middle of a record.
        journal.keep(memories)
        return (left, empty)
    }

    // MARK: -

    private static let noDirectory = "there is no directory that can be written"

    /// Segments of a bank that are always there: one that is written to, and the one that comes next.
    private static let spare = 2

    private var closedBank: Int? { banks.firstIndex { $0.extents != nil } }

    /// A file that somebody removed keeps nothing, and one that is where segments are not made any more is in the way. Memory
    /// of the process's own is in place where there is no directory.
    private func isInPlace(_ memory: SegmentMemory?) -> Bool {
        guard let memory else { return false }
        guard let path = memory.path, let directory else { return memory.path == nil && directory == nil }
        return path.hasPrefix(directory.path + "/") && access(path, F_OK) == 0
    }

    private func removeMemory(_ bank: Int, slot: Int) {
        banks[bank].memories[slot]?.remove()
        banks[bank].memories[slot] = nil
    }

    private func prepare(_ bank: Int) {
        lastSequence += 1
        banks[bank].sequence = lastSequence
        open(bank)
    }

    private func open(_ bank: Int) {
        banks[bank].start = Clock.wall()
        problem = directory == nil ? Self.noDirectory : nil
        for slot in 0..<Self.spare { prepare(bank, slot: slot) }
    }

    private func prepare(_ bank: Int, slot: Int) {
        let index = bank * Journal.slots + slot
        let known = banks[bank].memories[slot]
        guard let memory = known ?? makeMemory(index) else { return }
        if known == nil, slot >= Self.spare { memory.touch() }
        banks[bank].memories[slot] = memory
        let header = header(bank, slot)
        header.write(to: memory.bytes)
        JournalHeader.noteUnwatched(unwatched, in: memory.bytes)
        journal.open(bank: bank, slot: slot, memory.records, seed: header.seed)
    }

    private func header(_ bank: Int, _ slot: Int) -> JournalHeader {
        JournalHeader(
            sequence: banks[bank].sequence, slot: UInt64(bank * Journal.slots + slot),
            capacity: UInt64(journal.capacity), start: banks[bank].start)
    }

    private func makeMemory(_ index: Int) -> SegmentMemory? {
        let count = JournalFormat.headerBytes + journal.capacity
        do throws(WholeFile.Failure) {
            guard let directory else {
                problem = Self.noDirectory
                return try SegmentMemory(count: count)
            }
            return try SegmentMemory(
                path: directory.appendingPathComponent("\(index)\(JournalFormat.fileSuffix)").path, count: count)
        } catch {
            problem = error.description
            return try? SegmentMemory(count: count)
        }
    }
}
