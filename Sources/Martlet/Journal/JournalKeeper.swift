import Foundation
import MartletTelemetry

/// The part of the journal that the agent's thread uses: it gives segments their memory, directs writers to the other
/// bank at the end of an interval, and prepares the old segments again once their requests are in a batch.
final class JournalKeeper {
    private let journal: Journal
    private var directory: URL?
    private var banks = [Bank](repeating: Bank(), count: Journal.banks)
    /// The bank that requests are written to; `nil` before ``move(to:)`` or ``beginInMemory()``.
    private var inUse: Int?
    /// Why the last interval would be lost if the process were killed; `nil` if it would not be lost.
    private(set) var problem: String?
    /// Nanoseconds for which capture was off, as stored in the segments.
    private var captureGap: UInt64 = 0
    /// The last sequence given to a bank. No sequence is given twice.
    private var lastSequence: UInt64 = 0

    private struct Bank {
        var sequence: UInt64 = 0
        /// The earliest time at which the bank's interval may begin, by the wall clock.
        var start: UnixNanoseconds = 0
        var memories: [SegmentMemory?] = Array(repeating: nil, count: Journal.slots)
        /// The used part of each segment's lanes, from the close of the interval until it is recycled; `nil` otherwise.
        var extents: [[JournalLane.Extent]]?
    }

    init(_ journal: Journal) {
        self.journal = journal
    }

    /// Bytes of the segments in files.
    var fileBytes: Int { memories.reduce(0) { $0 + ($1.path == nil ? 0 : $1.bytes.count) } }

    /// Bytes of the segments in the process's own memory.
    var memoryBytes: Int { memories.reduce(0) { $0 + ($1.path == nil ? $1.bytes.count : 0) } }

    private var memories: [SegmentMemory] { banks.flatMap(\.memories).compactMap(\.self) }

    /// The sequence of the interval that is closed and not recycled; `nil` if none is.
    var closedSequence: UInt64? { closedBank.map { banks[$0].sequence } }

    /// Whether the closed interval has requests in files, which survive if the process is killed.
    var isClosedOnDisk: Bool { !closedFiles.isEmpty }

    /// Notes in the closed interval's files that a batch of it is about to be sent.
    ///
    /// - Parameter note: which collector may have the batch from then on; not 0.
    func noteAttempt(_ note: UInt64) {
        for memory in closedFiles { JournalHeader.noteAttempt(note, in: memory.bytes) }
    }

    /// Notes in the segments in use for how many nanoseconds capture was off, so that the figure survives if the
    /// process is killed.
    func noteCaptureGap(_ nanoseconds: UInt64) {
        captureGap = nanoseconds
        guard let inUse else { return }
        for memory in banks[inUse].memories.compactMap(\.self) {
            JournalHeader.noteCaptureGap(nanoseconds, in: memory.bytes)
        }
    }

    private var closedFiles: [SegmentMemory] {
        guard let bank = closedBank, let extents = banks[bank].extents else { return [] }
        return zip(banks[bank].memories, extents).compactMap { memory, extents in
            guard let path = memory?.path, extents.contains(where: { $0.records > 0 }) else { return nil }
            return access(path, F_OK) == 0 ? memory : nil
        }
    }

    /// Begins without a directory, unless the journal has already begun. Requests are lost if the process is killed.
    func beginInMemory() {
        if inUse == nil { begin() }
    }

    /// Creates new segments in a directory. The segments of the current interval stay where they are until it has
    /// ended.
    func move(to directory: URL) {
        self.directory = directory
        guard let inUse else { return begin() }
        let other = (inUse + 1) % Journal.banks
        guard banks[other].extents == nil else { return }
        // A thread that has slept since before the last interval may have left a record here. The bank moves once that
        // record is sealed, after the bank in use: recovery relies on the order of sequences.
        let slots = (0..<Self.spare).filter { banks[other].memories[$0] != nil }
        guard journal.closeIfEmpty(bank: other, slots: slots) else { return }
        for slot in banks[other].memories.indices where slot >= Self.spare || !isReusable(banks[other].memories[slot]) {
            removeMemory(other, slot: slot)
        }
        // The bank keeps its sequence, which is not in use yet: a skipped sequence would look like a lost batch.
        open(other)
    }

    private func begin() {
        for bank in banks.indices { prepare(bank) }
        journal.use(bank: 0)
        inUse = 0
    }

    /// Whether a segment's file is outside the directory.
    var hasStraySegments: Bool { memories.contains { $0.path != nil && !isReusable($0) } }

    /// Prepares the segment after the current one.
    ///
    /// - Returns: whether the bank is nearly used up.
    func prepareNextSegment() -> Bool {
        guard let inUse else { return false }
        let next = journal.slotInUse + 1
        // A segment that has memory is open, and threads may already write to it.
        if next < Journal.slots, banks[inUse].memories[next] == nil { prepare(inUse, slot: next) }
        return next >= Journal.slots - Journal.slots / 4
    }

    /// Ends the interval: requests are written to the other bank.
    ///
    /// - Returns: the number of requests in the interval; `nil` if the other bank is not free yet.
    func close() -> Int? {
        guard let inUse, banks[inUse].extents == nil else { return nil }
        let other = (inUse + 1) % Journal.banks
        guard banks[other].extents == nil else { return nil }
        journal.use(bank: other)
        self.inUse = other
        noteCaptureGap(captureGap)
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

    /// Returns the records of the closed interval, by lane; `nil` while a thread is still writing one.
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

    /// A lane of a closed segment, for reading.
    struct ClosedLane {
        /// Valid until the interval is recycled.
        let records: UnsafeRawBufferPointer
        let seed: UInt64
    }

    /// Ends the use of the closed interval, once its requests are in a batch or if it held none. Prepares its segments
    /// for the interval after the next.
    func recycle() {
        guard let bank = closedBank, let extents = banks[bank].extents else { return }
        for (slot, extents) in extents.enumerated() {
            guard let memory = banks[bank].memories[slot] else { continue }
            JournalHeader.erase(memory.bytes)
            if slot < Self.spare, isReusable(memory) {
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

    /// Closes all segments for good.
    ///
    /// - Returns: the number of requests in segments that were open, and the memory whose files hold no request and can
    ///   be removed.
    func closeForGood() -> (requests: Int, empty: [SegmentMemory]) {
        var left = 0
        var empty: [SegmentMemory] = []
        for bank in banks.indices {
            let extents = banks[bank].extents ?? closeSegments(of: bank)
            let records = Self.records(extents)
            if banks[bank].extents == nil { left += records }
            if records == 0 { empty += banks[bank].memories.compactMap(\.self) }
        }
        // A thread may be writing a record, so the memory stays mapped.
        journal.retain(memories)
        return (left, empty)
    }

    // MARK: -

    private static let noDirectory = "no directory can be written to"

    /// The number of segments that a bank always has: the current one and the next.
    private static let spare = 2

    private var closedBank: Int? { banks.firstIndex { $0.extents != nil } }

    /// Whether a segment's memory is where segments are created now, and can be reused. Requests in a removed file are
    /// lost if the process is killed, and a file in an earlier directory is given up. The process's own memory is used
    /// only if there is no directory.
    private func isReusable(_ memory: SegmentMemory?) -> Bool {
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
        JournalHeader.noteCaptureGap(captureGap, in: memory.bytes)
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
