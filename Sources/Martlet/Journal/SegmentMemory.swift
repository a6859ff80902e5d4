import CMartletHooks
import Foundation

/// The memory of one segment: a file's, or the process's own where there can be no file.
///
/// `@unchecked Sendable`: it never changes, and what is in it is the journal's business.
final class SegmentMemory: @unchecked Sendable {
    /// Header and records.
    let bytes: UnsafeMutableRawBufferPointer
    /// `nil` for the process's own memory, which is gone with the process.
    let path: String?

    /// A new file, zeroed, with all of its blocks allocated and mapped.
    init(path: String, count: Int) throws(WholeFile.Failure) {
        let descriptor = open(path, O_CREAT | O_RDWR | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw WholeFile.Failure(operation: "open a segment", code: errno) }
        defer { close(descriptor) }
        do {
            try Self.allocate(descriptor, count)
            bytes = try Self.map(MAP_SHARED, descriptor, count)
        } catch {
            unlink(path)
            throw error
        }
        self.path = path
    }

    /// Of the process alone.
    init(count: Int) throws(WholeFile.Failure) {
        bytes = try Self.map(MAP_PRIVATE | MAP_ANONYMOUS, -1, count)
        path = nil
    }

    deinit { munmap(bytes.baseAddress, bytes.count) }

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
        return UnsafeMutableRawBufferPointer(start: memory, count: count)
    }

    private static func allocate(_ descriptor: Int32, _ count: Int) throws(WholeFile.Failure) {
        let code = martlet_allocate_blocks(descriptor, Int64(count))
        guard code == 0 else { throw WholeFile.Failure(operation: "allocate a segment's blocks", code: code) }
    }
}
