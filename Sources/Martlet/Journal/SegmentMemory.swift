import CMartletHooks
import Foundation
import Synchronization

/// The memory of one segment: a mapped file, or the process's own memory if no file can be used.
///
/// `@unchecked Sendable`: the value never changes, and the journal orders the access to its bytes.
final class SegmentMemory: @unchecked Sendable {
    /// The header and the records.
    let bytes: UnsafeMutableRawBufferPointer
    /// The file's path; `nil` for the process's own memory, which is lost with the process.
    let path: String?
    private let process = martlet_process()
    private let isLocked: Bool

    /// Creates a file, zeroed, with all of its blocks allocated and mapped.
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

    /// Allocates memory of the process instead of a file.
    init(count: Int) throws(WholeFile.Failure) {
        bytes = try Self.map(MAP_PRIVATE | MAP_ANONYMOUS, -1, count)
        path = nil
        isLocked = false
    }

    /// Unmaps nothing in a forked child, which has another mapping at that address, or none.
    deinit {
        guard process == martlet_process() else { return }
        munmap(bytes.baseAddress, bytes.count)
        if isLocked { Self.locked.subtract(bytes.count, ordering: .relaxed) }
    }

    var records: UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(rebasing: bytes[min(JournalFormat.headerBytes, bytes.count)...])
    }

    /// Writes to each page before the first record on it, because the first write to a page of a file takes many
    /// microseconds. Memory that may never be used is not touched, because its pages would be written to the disk for
    /// nothing.
    func touch() {
        for page in stride(from: 0, to: bytes.count, by: JournalFormat.headerBytes) { bytes[page] = 0 }
    }

    func remove() {
        if let path { unlink(path) }
    }

    private static func map(_ flags: Int32, _ descriptor: Int32, _ count: Int) throws(WholeFile.Failure)
        -> UnsafeMutableRawBufferPointer
    {
        // The pages are created before a service's thread touches them, because the first touch takes microseconds.
        #if os(Linux)
        let populate = MAP_POPULATE
        #else
        let populate: Int32 = 0
        #endif
        let memory = mmap(nil, count, PROT_READ | PROT_WRITE, flags | populate, descriptor, 0)
        guard let memory, memory != MAP_FAILED else { throw WholeFile.Failure(operation: "map a segment", code: errno) }
        #if os(Linux)
        // A forked child writes to its own journal.
        madvise(memory, count, MADV_DONTFORK)
        #endif
        return UnsafeMutableRawBufferPointer(start: memory, count: count)
    }

    /// Bytes of the process's memory that the agent has locked.
    private static let locked = Atomic<Int>(0)

    /// Sets the locked bytes to 0. For a forked child, which has none of its parent's locked pages.
    static func forgetLocked() { locked.store(0, ordering: .relaxed) }

    /// Locks pages in memory: if the kernel evicts a page and cannot read it back, the process crashes (SIGBUS). The
    /// agent locks at most a quarter of the bytes that the process may lock, because the service may need the rest.
    ///
    /// - Returns: whether the pages are locked.
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
