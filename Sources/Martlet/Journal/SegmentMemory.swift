import CMartletHooks
import Foundation
import Synchronization

/// The memory of one segment: a file's, or the process's own where there can be no file.
///
/// `@unchecked Sendable`: it never changes, and what is in it is the journal's business.
final class SegmentMemory: @unchecked Sendable {
    /// Header and records.
    let bytes: UnsafeMutableRawBufferPointer
    /// `nil` for the process's own memory, which is gone with the process.
    let path: String?
    private let process = martlet_process()
    private let isLocked: Bool

    /// A new file, zeroed, with all of its blocks allocated and mapped.
    init(path: String, count: Int) throws(WholeFile.Failure) {
        guard let file = OwnDescriptor(path: path, O_CREAT | O_RDWR | O_TRUNC) else {
            throw WholeFile.Failure(operation: "open a segment", code: errno)
        }
        do {
            try Self.allocate(file.number, count)
            bytes = try Self.map(MAP_SHARED, file.number, count)
        } catch {
            unlink(path)
            throw error
        }
        self.path = path
        isLocked = Self.lockPages(bytes)
    }

    /// Of the process alone.
    init(count: Int) throws(WholeFile.Failure) {
        bytes = try Self.map(MAP_PRIVATE | MAP_ANONYMOUS, -1, count)
        path = nil
        isLocked = false
    }

    /// A forked child has nothing there, or something of its own.
    deinit {
        guard process == martlet_process() else { return }
        munmap(bytes.baseAddress, bytes.count)
        if isLocked { Self.locked.subtract(bytes.count, ordering: .relaxed) }
    }

    var records: UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(rebasing: bytes[min(JournalFormat.headerBytes, bytes.count)...])
    }

    /// The first write to each page of a file costs many microseconds, which are better spent here than where the first
    /// record on it is written. Not for memory that may never be used: its pages would go to the disk for nothing.
    func touch() {
        for page in stride(from: 0, to: bytes.count, by: JournalFormat.headerBytes) { bytes[page] = 0 }
    }

    func remove() {
        if let path { unlink(path) }
    }

    private static func map(_ flags: Int32, _ descriptor: Int32, _ count: Int) throws(WholeFile.Failure)
        -> UnsafeMutableRawBufferPointer
    {
        // The pages are there before a service's thread touches them: the first touch takes microseconds.
        #if os(Linux)
        let populate = MAP_POPULATE
        #else
        let populate: Int32 = 0
        #endif
        let memory = mmap(nil, count, PROT_READ | PROT_WRITE, flags | populate, descriptor, 0)
        guard let memory, memory != MAP_FAILED else { throw WholeFile.Failure(operation: "map a segment", code: errno) }
        #if os(Linux)
        // A forked child writes to a journal of its own.
        madvise(memory, count, MADV_DONTFORK)
        #endif
        return UnsafeMutableRawBufferPointer(start: memory, count: count)
    }

    /// Bytes of the process's that may not leave memory, because of us.
    private static let locked = Atomic<Int>(0)

    /// In a forked child, which has no locked pages of its parent's.
    static func forgetLocked() { locked.store(0, ordering: .relaxed) }

    /// A page that the kernel put out of memory and cannot read back ends the process (SIGBUS). Of what the process may lock,
    /// which the service may need as well, a quarter; what is past that stays as it was.
    private static func lockPages(_ bytes: UnsafeMutableRawBufferPointer) -> Bool {
        let isWithin =
            locked.add(bytes.count, ordering: .relaxed).newValue <= Int(clamping: martlet_lockable_bytes() / 4)
        if isWithin, mlock(bytes.baseAddress, bytes.count) == 0 { return true }
        locked.subtract(bytes.count, ordering: .relaxed)
        return false
    }

    private static func allocate(_ descriptor: Int32, _ count: Int) throws(WholeFile.Failure) {
        let code = martlet_allocate_blocks(descriptor, Int64(count))
        guard code == 0 else { throw WholeFile.Failure(operation: "allocate a segment's blocks", code: code) }
    }
}
